"""Maps of reads: questions to saved data, their maps, picture and page, for the study `reads`."""
