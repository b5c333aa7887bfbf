/* Tables in Avro's object container files, by Apache Avro's library for C: the canonical form, or a sum.

   avro_table read FILE...               prints each table, or the error of a file
   avro_table sum FILE COLUMNS COLUMNS   adds up the first columns of the rows where the others are zero */

#include <avro.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Types in each other; a type that names itself would have no end. */
#define MOST_NESTED 64

static jmp_buf failed;
static char message[1024];

_Noreturn static void fail(const char *format, ...) {
    va_list given;
    va_start(given, format);
    vsnprintf(message, sizeof message, format, given);
    va_end(given);
    longjmp(failed, 1);
}

/* The library's calls return 0, or an error number beside their message. */
static void need(int status) {
    if (status) fail("%s", avro_strerror());
}

/* ---- Values in canonical form ---- */

static void print_text(FILE *out, const char *text, size_t length) {
    putc('"', out);
    for (size_t place = 0; place < length; place++) {
        unsigned char each = text[place];
        if (each == '"' || each == '\\') fprintf(out, "\\%c", each);
        else if (each < ' ') fprintf(out, "\\u%04x", each);
        else putc(each, out);
    }
    putc('"', out);
}

static void print_base64(FILE *out, const unsigned char *bytes, size_t length) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    putc('"', out);
    for (size_t place = 0; place < length; place += 3) {
        size_t left = length - place;
        uint32_t group = bytes[place] << 16 | (left > 1 ? bytes[place + 1] << 8 : 0) | (left > 2 ? bytes[place + 2] : 0);
        putc(letters[group >> 18], out);
        putc(letters[group >> 12 & 63], out);
        putc(left > 1 ? letters[group >> 6 & 63] : '=', out);
        putc(left > 2 ? letters[group & 63] : '=', out);
    }
    putc('"', out);
}

static uint32_t float_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t double_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The one type of a union that is not null. */
static avro_schema_t other_than_null(avro_schema_t schema) {
    avro_schema_t found = NULL;
    size_t others = 0;
    for (size_t branch = 0; branch < avro_schema_union_size(schema); branch++) {
        avro_schema_t each = avro_schema_union_branch(schema, branch);
        if (avro_typeof(each) == AVRO_NULL) continue;
        found = each;
        others++;
    }
    if (others != 1) fail("a union of %zu types has no canonical type", others);
    return found;
}

static void print_type(FILE *out, avro_schema_t schema, int depth) {
    if (depth > MOST_NESTED) fail("a type inside itself has no canonical type");
    switch (avro_typeof(schema)) {
    case AVRO_NULL: fputs("null", out); break;
    case AVRO_BOOLEAN: fputs("bool", out); break;
    case AVRO_INT32: fputs("int32", out); break;
    case AVRO_INT64: fputs("int64", out); break;
    case AVRO_FLOAT: fputs("float32", out); break;
    case AVRO_DOUBLE: fputs("float64", out); break;
    case AVRO_STRING: case AVRO_ENUM: fputs("utf8", out); break;
    case AVRO_BYTES: case AVRO_FIXED: fputs("binary", out); break;
    case AVRO_UNION: print_type(out, other_than_null(schema), depth + 1); break;
    case AVRO_ARRAY:
        fputs("list<", out);
        print_type(out, avro_schema_array_items(schema), depth + 1);
        putc('>', out);
        break;
    case AVRO_MAP:
        fputs("map<utf8, ", out);
        print_type(out, avro_schema_map_values(schema), depth + 1);
        putc('>', out);
        break;
    case AVRO_RECORD:
        fputs("struct<", out);
        for (size_t field = 0; field < avro_schema_record_size(schema); field++) {
            const char *name = avro_schema_record_field_name(schema, field);
            if (field) fputs(", ", out);
            print_text(out, name, strlen(name));
            fputs(": ", out);
            print_type(out, avro_schema_record_field_get_by_index(schema, field), depth + 1);
        }
        putc('>', out);
        break;
    case AVRO_LINK: print_type(out, avro_schema_link_target(schema), depth + 1); break; /* a type named again */
    }
}

static void print_value(FILE *out, avro_value_t *value);

static void print_parts(FILE *out, avro_value_t *value, bool with_keys) {
    size_t size;
    need(avro_value_get_size(value, &size));
    putc('[', out);
    for (size_t place = 0; place < size; place++) {
        avro_value_t part;
        const char *key;
        need(avro_value_get_by_index(value, place, &part, &key));
        if (place) putc(',', out);
        if (with_keys) {
            putc('[', out);
            print_text(out, key, strlen(key));
            putc(',', out);
        }
        print_value(out, &part);
        if (with_keys) putc(']', out);
    }
    putc(']', out);
}

static void print_value(FILE *out, avro_value_t *value) {
    int number;
    int64_t count;
    float single;
    double number_64;
    const char *text;
    const void *bytes;
    size_t size;
    avro_value_t inner;
    switch (avro_value_get_type(value)) {
    case AVRO_NULL: fputs("null", out); break;
    case AVRO_BOOLEAN:
        need(avro_value_get_boolean(value, &number));
        fputs(number ? "true" : "false", out);
        break;
    case AVRO_INT32:
        need(avro_value_get_int(value, &number));
        fprintf(out, "\"%d\"", number);
        break;
    case AVRO_INT64:
        need(avro_value_get_long(value, &count));
        fprintf(out, "\"%" PRId64 "\"", count);
        break;
    case AVRO_FLOAT:
        need(avro_value_get_float(value, &single));
        if (isnan(single)) fputs("\"nan\"", out);
        else fprintf(out, "\"%08" PRIx32 "\"", float_bits(single));
        break;
    case AVRO_DOUBLE:
        need(avro_value_get_double(value, &number_64));
        if (isnan(number_64)) fputs("\"nan\"", out);
        else fprintf(out, "\"%016" PRIx64 "\"", double_bits(number_64));
        break;
    case AVRO_STRING:
        need(avro_value_get_string(value, &text, &size));
        print_text(out, text, size - 1); /* it counts the NUL at the end */
        break;
    case AVRO_ENUM:
        need(avro_value_get_enum(value, &number));
        text = avro_schema_enum_get(avro_value_get_schema(value), number);
        print_text(out, text, strlen(text));
        break;
    case AVRO_BYTES:
        need(avro_value_get_bytes(value, &bytes, &size));
        print_base64(out, bytes, size);
        break;
    case AVRO_FIXED:
        need(avro_value_get_fixed(value, &bytes, &size));
        print_base64(out, bytes, size);
        break;
    case AVRO_UNION:
        need(avro_value_get_current_branch(value, &inner));
        print_value(out, &inner);
        break;
    case AVRO_MAP: print_parts(out, value, true); break;
    default: print_parts(out, value, false);
    }
}

/* ---- Files ---- */

typedef struct {
    avro_file_reader_t reader;
    avro_schema_t schema;
    avro_value_t row;
} table;

static table open_table(const char *path) {
    table found;
    FILE *file = fopen(path, "rb");
    if (!file) fail("%s", strerror(errno)); /* of which the library sets no message */
    need(avro_file_reader_fp(file, path, 1, &found.reader));
    found.schema = avro_file_reader_get_writer_schema(found.reader);
    if (avro_typeof(found.schema) != AVRO_RECORD) fail("the file contains no records");
    avro_value_iface_t *rows = avro_generic_class_from_schema(found.schema);
    if (!rows) fail("%s", avro_strerror());
    need(avro_generic_value_new(rows, &found.row));
    return found;
}

/* Read the next row; false at the end of the file. */
static bool next(table *found) {
    int status = avro_file_reader_read_value(found->reader, &found->row);
    if (status == EOF) return false;
    need(status);
    return true;
}

static void print_table(const char *path) {
    char *lines, *types;
    size_t lines_size, types_size;
    FILE *out = open_memstream(&lines, &lines_size);
    table found = open_table(path);
    size_t columns = avro_schema_record_size(found.schema), rows = 0;
    for (; next(&found); rows++) {
        print_value(out, &found.row);
        putc('\n', out);
    }
    fclose(out);
    FILE *head = open_memstream(&types, &types_size);
    fputs("{\"columns\": [", head);
    for (size_t column = 0; column < columns; column++) {
        char *type;
        size_t type_size;
        const char *name = avro_schema_record_field_name(found.schema, column);
        FILE *one = open_memstream(&type, &type_size);
        print_type(one, avro_schema_record_field_get_by_index(found.schema, column), 0);
        fclose(one);
        fputs(column ? ", {\"name\": " : "{\"name\": ", head);
        print_text(head, name, strlen(name));
        fputs(", \"type\": ", head);
        print_text(head, type, type_size);
        putc('}', head);
    }
    fprintf(head, "], \"rows\": %zu}\n", rows);
    fclose(head);
    fwrite(types, 1, types_size, stdout);
    fwrite(lines, 1, lines_size, stdout);
}

/* ---- Sums ---- */

static size_t places(const char *names, avro_schema_t schema, int *found) {
    char *given = strdup(names);
    size_t count = 0;
    for (char *name = strtok(given, ","); name; name = strtok(NULL, ",")) {
        if (count == avro_schema_record_size(schema)) fail("more columns are asked for than there are");
        found[count] = avro_schema_record_field_get_index(schema, name);
        if (found[count++] < 0) fail("there is no column %s", name);
    }
    return count;
}

/* The number of a column; its bytes, with the highest first, are added to the row. */
static double number(avro_value_t *value, unsigned char **row) {
    int count_32;
    int64_t count;
    double found;
    uint64_t bits;
    int bytes = 8;
    switch (avro_value_get_type(value)) {
    case AVRO_INT32:
        need(avro_value_get_int(value, &count_32));
        found = count_32;
        bits = (uint32_t)count_32;
        bytes = 4;
        break;
    case AVRO_INT64:
        need(avro_value_get_long(value, &count));
        found = count;
        bits = count;
        break;
    case AVRO_DOUBLE:
        need(avro_value_get_double(value, &found));
        bits = double_bits(found);
        break;
    default: fail("digests are of integers and doubles alone");
    }
    while (bytes--) *(*row)++ = bits >> (8 * bytes);
    return found;
}

static void print_sum(const char *path, const char *added_names, const char *zero_names) {
    table found = open_table(path);
    size_t columns = avro_schema_record_size(found.schema), rows = 0;
    double *values = calloc(columns, sizeof *values), sum = 0;
    unsigned char *row = calloc(columns, 8);
    int *added = calloc(columns, sizeof *added), *zero = calloc(columns, sizeof *zero);
    size_t added_count = places(added_names, found.schema, added);
    size_t zero_count = places(zero_names, found.schema, zero);
    uLong digest = crc32(0, NULL, 0);
    for (size_t column = 0; column < columns; column++) {
        const char *name = avro_schema_record_field_name(found.schema, column);
        if (column) digest = crc32(digest, (const Bytef *)",", 1);
        digest = crc32(digest, (const Bytef *)name, strlen(name));
    }
    for (; next(&found); rows++) {
        unsigned char *end = row;
        for (size_t column = 0; column < columns; column++) {
            avro_value_t value;
            need(avro_value_get_by_index(&found.row, column, &value, NULL));
            values[column] = number(&value, &end);
        }
        digest = crc32(digest, row, end - row);
        size_t nothing = 0;
        while (nothing < zero_count && values[zero[nothing]] == 0) nothing++;
        for (size_t place = 0; nothing == zero_count && place < added_count; place++) sum += values[added[place]];
    }
    printf("{\"rows\": %zu, \"sum\": \"%f\", \"digest\": \"%08lx\"}\n", rows, sum, digest);
}

int main(int count, char **arguments) {
    if (count == 5 && !strcmp(arguments[1], "sum")) {
        if (setjmp(failed)) {
            fprintf(stderr, "%s\n", message);
            return 1;
        }
        print_sum(arguments[2], arguments[3], arguments[4]);
        return 0;
    }
    if (count < 3 || strcmp(arguments[1], "read")) {
        fputs("usage: avro_table read FILE... | avro_table sum FILE COLUMNS COLUMNS\n", stderr);
        return 2;
    }
    for (volatile int file = 2; file < count; file++) {
        if (setjmp(failed)) {
            fputs("{\"error\": ", stdout);
            print_text(stdout, message, strlen(message));
            fputs("}\n", stdout);
            continue;
        }
        print_table(arguments[file]);
    }
    return 0;
}
