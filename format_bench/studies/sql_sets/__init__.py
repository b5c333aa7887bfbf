"""Sets of SQL queries to several tables: TPC-H, and questions of web analytics."""
