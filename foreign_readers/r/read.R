# Prints files in canonical form, as a package of R gives their values: Rscript read.R PACKAGE FILE...
# Without arguments it checks that all packages are installed.

# Packages of Debian by packages of R.
PACKAGES <- c(
  bit64 = "r-cran-bit64", data.table = "r-cran-data.table", jsonlite = "r-cran-jsonlite",
  ncdf4 = "r-cran-ncdf4", readxl = "r-cran-readxl", rhdf5 = "r-bioc-rhdf5", RSQLite = "r-cran-rsqlite"
)

# ---- Values. A column is a list of its type and of the JSON texts of its values.

column <- function(x) {
  if (is.data.frame(x)) return(structs(x))
  if (length(dim(x)) > 1) return(nested(asplit(x, 1)))
  if (is.list(x)) return(nested(x))
  if (is.factor(x)) x <- as.character(x)
  flat(x)
}

flat <- function(x) {
  if (inherits(x, "integer64")) return(typed("int64", quoted(as.character(x)), is.na(x)))
  if (inherits(x, "Date")) return(typed("date", quoted(sprintf("%.0f", as.double(x))), is.na(x)))
  if (inherits(x, "POSIXct")) return(instants(x))
  if (is.object(x)) return(typed(paste0("other(", class(x)[1], ")"), quoted(format(x)), is.na(x)))
  switch(typeof(x),
    logical = typed("bool", c("false", "true")[x + 1L], is.na(x)),
    integer = typed("int32", quoted(sprintf("%d", x)), is.na(x)),
    # NA is a NaN with a payload of its own.
    double = typed("float64", bits(x), is.na(x) & !is.nan(x)),
    character = typed("utf8", quoted(x), is.na(x)),
    raw = typed("uint8", quoted(as.integer(x)), rep(FALSE, length(x))),
    stop("values of the type ", typeof(x), " have no canonical type")
  )
}

typed <- function(type, values, missing) list(type = type, values = replace(values, missing, "null"))

# Seconds since 1970 as a float, which tells microseconds apart, but not nanoseconds.
instants <- function(x) {
  zone <- attr(x, "tzone")[1]
  if (is.null(zone) || zone == "") zone <- "UTC"
  exact <- as.double(x)
  seconds <- floor(exact)
  counts <- sprintf("%.0f", seconds * 1e6 + round((exact - seconds) * 1e6))
  typed(paste0("timestamp(us, ", zone, ")"), quoted(counts), is.na(x))
}

# The bits of floats.
bits <- function(x) {
  bytes <- matrix(as.character(writeBin(as.double(x), raw(), endian = "big")), nrow = 8)
  texts <- do.call(paste0, lapply(1:8, function(place) bytes[place, ]))
  quoted(replace(texts, is.nan(x), "nan"))
}

# Texts as JSON.
quoted <- function(texts) {
  texts <- enc2utf8(as.character(texts))
  texts <- gsub("\\", "\\\\", texts, fixed = TRUE)
  texts <- gsub('"', '\\"', texts, fixed = TRUE)
  if (any(grepl("[\\x01-\\x1f]", texts, perl = TRUE, useBytes = TRUE))) {
    for (code in 1:31) texts <- gsub(intToUtf8(code), sprintf("\\u%04x", code), texts, fixed = TRUE)
  }
  paste0('"', texts, '"', recycle0 = TRUE)
}

structs <- function(frame) {
  parts <- lapply(frame, column)
  fields <- paste0(quoted(names(frame)), ": ", types(parts), collapse = ", ", recycle0 = TRUE)
  list(type = paste0("struct<", fields, ">"), values = rows(parts, nrow(frame)))
}

types <- function(parts) vapply(parts, `[[`, "", "type")

# The JSON arrays of the values of each row.
rows <- function(parts, number) {
  if (!length(parts)) return(rep("[]", number))
  values <- lapply(unname(parts), `[[`, "values")
  paste0("[", do.call(paste, c(values, sep = ", ")), "]", recycle0 = TRUE)
}

# The column of a list: of bytes, of lists, or of values that have no type in common.
nested <- function(x) {
  missing <- vapply(x, is.null, NA)
  present <- x[!missing]
  if (!length(present)) return(typed("null", rep("null", length(x)), missing))
  if (all(vapply(present, is.raw, NA))) {
    type <- "binary"
    # jsonlite breaks lines.
    values <- quoted(gsub("\n", "", vapply(present, jsonlite::base64_enc, ""), fixed = TRUE))
  } else {
    sizes <- vapply(present, NROW, 0L)
    inner <- joined(unname(present[sizes > 0]))
    if (is.null(inner)) {
      type <- "other(mixed)"
      values <- quoted(vapply(present, jsonlite::toJSON, "", auto_unbox = TRUE, digits = NA))
    } else {
      type <- paste0("list<", inner$type, ">")
      ends <- cumsum(sizes)
      part <- function(place) inner$values[seq_len(sizes[place]) + ends[place] - sizes[place]]
      values <- vapply(seq_along(sizes), function(place) whole(part(place)), "")
    }
  }
  list(type = type, values = replace(rep("null", length(x)), !missing, values))
}

# The column of the elements of several lists; NULL if they have no type in common.
joined <- function(lists) {
  if (!length(lists)) return(list(type = "null", values = character()))
  are_frames <- vapply(lists, is.data.frame, NA)
  if (all(are_frames)) return(column(jsonlite::rbind_pages(lists)))
  if (any(are_frames) || !all(vapply(lists, function(each) is.null(names(each)), NA))) return(NULL)
  are_nested <- vapply(lists, function(each) is.list(each) || length(dim(each)) > 1, NA)
  if (any(are_nested)) return(column(do.call(c, lapply(lists, elements))))
  # A vector of nulls alone is one of logicals.
  kinds <- vapply(lists, function(each) if (all(is.na(each))) "null" else mode(each), "")
  if (length(setdiff(kinds, "null")) > 1) return(NULL)
  column(do.call(c, lists))
}

elements <- function(x) if (length(dim(x)) > 1) c(asplit(x, 1)) else as.list(x)

whole <- function(values) paste0("[", paste(values, collapse = ", "), "]")

lines_of <- function(parts, number) {
  heads <- paste0('{"name": ', quoted(names(parts)), ', "type": ', quoted(types(parts)), "}", recycle0 = TRUE)
  c(paste0('{"columns": ', whole(heads), ', "rows": ', number, "}"), rows(parts, number))
}

table_lines <- function(frame) lines_of(lapply(frame, column), nrow(frame))

# ---- Arrays, whose facts are columns of one row. R has the axes of C in reverse, and values in the same order.

RESERVED <- c("CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "DIMENSION_LABELS")

array_lines <- function(name, values, shape, chunks, dims, attributes, coordinates) {
  shape <- as.integer(rev(shape))
  chunks <- if (is.null(chunks)) shape else as.integer(rev(chunks))
  facts <- list(
    name = column(name), values = list_fact(values), shape = edges(shape),
    chunks = edges(pmin(chunks, pmax(1L, shape))), dims = list_fact(dims)
  )
  facts[paste("coordinate", names(coordinates), recycle0 = TRUE)] <- lapply(coordinates, list_fact)
  for (of in names(attributes)) {
    after <- if (of == name) "" else paste(" of coordinate", of)
    for (key in setdiff(names(attributes[[of]]), RESERVED)) {
      facts[[paste0("attribute ", key, after)]] <- fact(attributes[[of]][[key]])
    }
  }
  lines_of(facts, 1)
}

# A list of all values; a compound is a list of its parts.
list_fact <- function(x) {
  inner <- column(if (is.list(x)) list2DF(lapply(x, undimensioned)) else undimensioned(x))
  list(type = paste0("list<", inner$type, ">"), values = whole(inner$values))
}

# A vector of one value is a value.
fact <- function(x) if (length(x) == 1) column(undimensioned(x)) else list_fact(x)

edges <- function(x) list(type = "list<int64>", values = whole(quoted(sprintf("%d", x))))

undimensioned <- function(x) {
  dim(x) <- NULL
  x
}

# ---- Files, by package.

read_hdf5 <- function(path) {
  on.exit(rhdf5::h5closeAll())
  read <- function(name) rhdf5::h5read(path, name, bit64conversion = "bit64")
  names <- rhdf5::h5ls(path, recursive = FALSE)$name
  attributes <- lapply(setNames(nm = names), rhdf5::h5readAttributes, file = path, bit64conversion = "bit64")
  is_scale <- vapply(attributes, function(of) identical(c(of[["CLASS"]]), "DIMENSION_SCALE"), NA)
  name <- names[!is_scale][1]
  values <- read(name)
  # netCDF's files have references to scales in place of labels.
  dims <- attributes[[name]][["DIMENSION_LABELS"]]
  if (is.null(dims)) dims <- attributes[[name]][["DIMENSION_LIST"]]
  if (is.null(dims)) dims <- character()
  shape <- dim(if (is.list(values)) values[[1]] else values)
  scales <- lapply(setNames(nm = names[is_scale]), read)
  chunks <- rhdf5::H5Dchunk_dims(rhdf5::H5Dopen(rhdf5::H5Fopen(path, "H5F_ACC_RDONLY"), name))
  array_lines(name, values, shape, chunks, dims, attributes, scales)
}

read_netcdf <- function(path) {
  file <- ncdf4::nc_open(path)
  on.exit(ncdf4::nc_close(file))
  if (!length(file$var)) stop("ncdf4 finds no variable")
  variable <- file$var[[1]]
  # Values as they are stored: by default, ncdf4 scales them, and takes some for missing.
  values <- ncdf4::ncvar_get(file, variable, collapse_degen = FALSE, raw_datavals = TRUE)
  dims <- vapply(variable$dim, `[[`, "", "name")
  with_values <- dims[vapply(variable$dim, `[[`, NA, "create_dimvar")]
  coordinates <- lapply(setNames(nm = with_values), function(dim) ncdf4::ncvar_get(file, dim))
  attributes <- lapply(setNames(nm = c(variable$name, with_values)), function(of) ncdf4::ncatt_get(file, of))
  chunks <- if (variable$storage == 2) variable$chunksizes
  array_lines(variable$name, values, variable$varsize, chunks, rev(dims), attributes, coordinates)
}

read_sqlite <- function(path) {
  database <- DBI::dbConnect(RSQLite::SQLite(), path, flags = RSQLite::SQLITE_RO)
  on.exit(DBI::dbDisconnect(database))
  tables <- DBI::dbListTables(database)
  if (length(tables) != 1) {
    stop("the database has ", length(tables), " tables, and none says that it is the only one of data")
  }
  table_lines(DBI::dbReadTable(database, tables, check.names = FALSE))
}

READERS <- list(
  data.table = function(path) {
    table_lines(data.table::fread(file = path, encoding = "UTF-8", data.table = FALSE))
  },
  jsonlite = function(path) table_lines(jsonlite::stream_in(file(path), verbose = FALSE)),
  ncdf4 = read_netcdf,
  readxl = function(path) table_lines(readxl::read_excel(path, progress = FALSE)),
  rhdf5 = read_hdf5,
  RSQLite = read_sqlite
)

check <- function() {
  here <- vapply(names(PACKAGES), requireNamespace, NA, quietly = TRUE)
  if (all(here)) return(invisible())
  missing <- paste(names(PACKAGES)[!here], collapse = ", ")
  message("R lacks ", missing, "; install ", paste(PACKAGES[!here], collapse = " "), " of Debian")
  quit(status = 1)
}

main <- function(read, paths) {
  loadNamespace("bit64")  # it has the methods of 64-bit integers that other packages return
  for (path in paths) {
    sink(stderr())  # ncdf4 prints its warnings
    lines <- tryCatch(read(path), error = function(error) {
      paste0('{"error": ', quoted(conditionMessage(error)), "}")
    })
    sink()
    writeLines(lines, useBytes = TRUE)
  }
}

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments)) main(READERS[[arguments[1]]], arguments[-1]) else check()
