"use strict";

// asv's links and feeds lead to index.html, but asv's own page is {{ asv_page }} on this site. Their fragments
// are "#/", the name of a list, or a benchmark, whose name contains a dot.
if (/^#(\/|summarylist|regressions|[^?]*\.)/.test(location.hash)) location.replace("{{ asv_page }}" + location.hash);
