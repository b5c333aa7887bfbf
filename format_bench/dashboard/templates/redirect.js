"use strict";

// The page that asv calls index.html is {{ asv_page }} here, and asv's links and feeds do not know it. What
// it shows stands after "#": "/", the name of a list, or a benchmark, in whose name there is a dot.
if (/^#(\/|summarylist|regressions|[^?]*\.)/.test(location.hash)) location.replace("{{ asv_page }}" + location.hash);
