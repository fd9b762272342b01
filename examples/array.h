/* An array of floats in a file or a pipe: NumPy's .npy, known by its first bytes, or raw; or of
 * generated ones. Of float32, or of another type that the program asks for. What cannot be read
 * ends the program in words. POSIX; include common.h first. */
#ifndef FASTREDUCE_EXAMPLES_ARRAY_H
#define FASTREDUCE_EXAMPLES_ARRAY_H

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_LIMIT = 1 << 16 }; /* bytes; NumPy writes some 120 for an array of floats */

typedef struct array {
    const char *name;
    fastreduce_type type;          /* f16, bf16, f32 or f64, all called floats here */
    size_t size;                   /* of an element */
    float (*generate)(uint64_t i); /* for typed_number(); null: they are in a file */
    int file;                      /* descriptor */
    int seekable;                  /* a regular file, which any thread may read anywhere */
    uint64_t count;                /* floats; UINT64_MAX until a pipe of raw ones has ended */
    off_t begin;                   /* of the first float in a seekable file */
    const float *map;              /* those of f32 in memory, by map_floats; null elsewhere */
    unsigned char ahead[64];       /* the first bytes, which a pipe gives only once */
    size_t is_ahead;               /* how many; none where they are a header */
    int dimensions, fortran_order; /* of a .npy file */
    uint64_t extents[2];           /* the first ones */
} array;

/* Reads what one system call gives: how many bytes, 0 at the end. */
static inline size_t read_some(const array *a, void *to, size_t bytes, off_t at)
{
    const ssize_t got = a->seekable ? pread(a->file, to, bytes, at) : read(a->file, to, bytes);
    if (got < 0) fail(1, "%s: %s", a->name, strerror(errno));
    return (size_t)got;
}

/* Reads so many bytes, fewer only at the end. */
static inline size_t read_bytes(const array *a, void *to, size_t bytes, off_t at)
{
    size_t done = 0, got = 1;
    while (done < bytes && got > 0) {
        got = read_some(a, (char *)to + done, bytes - done, at + (off_t)done);
        done += got;
    }
    return done;
}

/* Floats begin .. begin + count - 1 of an array that is seekable or generated. */
static inline void read_floats(const array *a, void *to, uint64_t begin, size_t count)
{
    const size_t bytes = count * a->size;
    size_t i;
    if (a->generate && a->type == FASTREDUCE_F32) /* quicker than through typed_number() */
        for (i = 0; i < count; ++i) ((float *)to)[i] = a->generate(begin + i);
    else if (a->generate)
        for (i = 0; i < count; ++i)
            typed_number(a->type, a->generate, begin + i, (char *)to + i * a->size);
    else if (read_bytes(a, to, bytes, a->begin + (off_t)(a->size * begin)) != bytes)
        fail(1, "%s: became shorter while it was read", a->name);
}

static inline void map_has_failed(int signal_number)
{
    static const char line[] = PROGRAM ": a file became shorter, or failed, while it was read\n";
    ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
    (void)signal_number, (void)written;
    _exit(1);
}

/* Maps a seekable array, where that works: a cached file is then read without a copy, but one that
 * becomes shorter meanwhile shows only in a signal. */
static inline void map_floats(array *a)
{
    const size_t bytes = (size_t)a->begin + 4 * (size_t)a->count;
    void *map = MAP_FAILED;
    if (a->seekable && a->begin % 4 == 0 && a->count > 0 && a->count < SIZE_MAX / 8)
        map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, a->file, 0);
    if (map == MAP_FAILED) return;
    signal(SIGBUS, map_has_failed);
    a->map = (const float *)map + a->begin / 4;
}

static inline void close_array(array *a)
{
    if (a->map) munmap((float *)a->map - a->begin / 4, (size_t)a->begin + 4 * (size_t)a->count);
    if (!a->generate) close(a->file);
}

/* ---- The header of a .npy file --------------------------------------------------------------- */

/* Skips spaces, then the given text; 0 if something else is there. */
static inline int skip(const char **at, const char *text)
{
    const char *p = *at + strspn(*at, " ");
    if (strncmp(p, text, strlen(text)) != 0) return 0;
    *at = p + strlen(text);
    return 1;
}

/* A shape, as Python writes tuples: (), (3,), (3, 5); Python 2 wrote 3L on some systems. Returns
 * 0 where it is malformed. Elements too many for 64 bits of bytes count as UINT64_MAX. */
static inline int parse_shape(array *a, const char **at)
{
    int comma = 1, too_many = 0;
    uint64_t product = 1;
    if (!skip(at, "(")) return 0;
    for (a->dimensions = 0; !skip(at, ")"); ++a->dimensions) {
        char *end;
        uint64_t extent;
        (void)skip(at, "");
        if (!comma || **at < '0' || **at > '9') return 0;
        errno = 0;
        extent = strtoull(*at, &end, 10);
        if (errno || (extent && product > (UINT64_MAX >> 3) / extent))
            too_many = 1;
        else
            product *= extent;
        if (a->dimensions < 2) a->extents[a->dimensions] = extent;
        *at = *end == 'L' ? end + 1 : end;
        comma = skip(at, ",");
    }
    a->count = too_many ? UINT64_MAX : product;
    return a->dimensions != 1 || comma; /* (3) is a number */
}

/* The elements' type: ends the program where it is another one. */
static inline int parse_descr(const array *a, const char **at)
{
    const char *p = *at, *const name = a->name, *remedy = "";
    char wanted[40];
    size_t length, k;
    for (k = 0; k < 4 && a->type != FASTREDUCE_BF16; ++k) { /* which NumPy does not have */
        static const char *const forms[] = {"'<f%d'", "'f%d'", "'=f%d'", "'float%d'"};
        snprintf(wanted, sizeof wanted, forms[k], (int)a->size * (k < 3 ? 1 : 8));
        if (skip(at, wanted)) return 1;
    }
    if (a->type == FASTREDUCE_BF16)
        snprintf(wanted, sizeof wanted, "bfloat16, which .npy files lack");
    else
        snprintf(wanted, sizeof wanted, "float%d ('<f%d')", (int)a->size * 8, (int)a->size);
    (void)skip(&p, "");
    if (*p == '[') fail(1, "%s: its elements are records, not %s", name, wanted);
    length = strspn(p + (*p == '\''), "<>=|[]0123456789abcdefghijklmnopqrstuvwxyzMOSUV");
    if (strncmp(p, "'<f2'", 5) == 0) remedy = "; sum_mpi --type f16 sums these";
    if (strncmp(p, "'<f8'", 5) == 0) remedy = "; sum_mpi --type f64 sums these";
    if (*p == '\'' && length > 0 && length < 40 && p[length + 1] == '\'')
        fail(1, "%s: its elements are %.*s, not %s%s", name, (int)length + 2, p, wanted, remedy);
    return 0;
}

/* A Python dictionary of type, order and shape, padded with spaces and a newline. The order does
 * not matter to a sum. 0 where it is malformed. */
static inline int parse_npy_header(array *a, const char *text, size_t length)
{
    const char *p = text;
    int descr = 0, order = 0, shape = 0, comma = 1;

    if (!skip(&p, "{")) return 0;
    while (!skip(&p, "}")) {
        int good = 0;
        if (skip(&p, "'descr':"))
            ++descr, good = parse_descr(a, &p);
        else if (skip(&p, "'fortran_order':"))
            ++order, good = skip(&p, "False") || (a->fortran_order = skip(&p, "True"));
        else if (skip(&p, "'shape':"))
            ++shape, good = parse_shape(a, &p);
        if (!good || !comma) return 0;
        comma = skip(&p, ",");
    }
    p += strspn(p, " \n");
    return p == text + length && descr == 1 && order == 1 && shape == 1;
}

/* Reads the next bytes of the header. */
static inline void take(array *a, void *to, size_t bytes)
{
    if (read_bytes(a, to, bytes, a->begin) != bytes) fail(1, "%s: ends within its header", a->name);
    a->begin += (off_t)bytes;
}

/* Reads the header up to the first element; its first 6 bytes are there already. */
static inline void read_npy_header(array *a)
{
    unsigned char start[2], size[4] = {0};
    char *header;
    size_t length;

    take(a, start, 2);
    if (start[0] < 1 || start[0] > 3 || start[1] != 0)
        fail(1, "%s: is of .npy format %d.%d, not 1.0, 2.0 or 3.0", a->name, start[0], start[1]);
    take(a, size, start[0] == 1 ? 2 : 4); /* format 2 made room for longer ones */
    length = size[0] | (size_t)size[1] << 8 | (size_t)size[2] << 16 | (size_t)size[3] << 24;
    if (length > HEADER_LIMIT)
        fail(1, "%s: its header claims %lu bytes, more than an array of floats can need", a->name,
             (unsigned long)length);
    header = (char *)calloc(length + 1, 1);
    if (!header) fail(1, "no memory for a header of %lu bytes", (unsigned long)length);
    take(a, header, length);
    if (!parse_npy_header(a, header, length))
        fail(1, "%s: its header is not one that NumPy writes", a->name);
    if (a->count == UINT64_MAX)
        fail(1, "%s: its shape has more elements than any file can hold", a->name);
    free(header);
}

/* ---- Opening --------------------------------------------------------------------------------- */

static inline int name_ends_in(const array *a, const char *end)
{
    const size_t length = strlen(a->name), suffix = strlen(end);
    return length >= suffix && strcmp(a->name + length - suffix, end) == 0;
}

/* Compares the size of a file with what its header promises, or counts its floats. */
static inline void check_size(array *a, int npy, off_t size)
{
    const uint64_t bytes = size > a->begin ? (uint64_t)(size - a->begin) : 0;
    if (!npy && bytes % a->size)
        fail(1, "%s: its %" PRIu64 " bytes are not a whole number of floats", a->name, bytes);
    if (!npy) a->count = bytes / a->size;
    if (bytes < a->size * a->count)
        fail(1, "%s: is short, with %" PRIu64 " bytes of data where its header promises %" PRIu64,
             a->name, bytes, a->size * a->count);
    if (bytes > a->size * a->count)
        fail(1, "%s: has %" PRIu64 " bytes too many after its array", a->name,
             bytes - a->size * a->count);
}

/* Ends the program where the first bytes show another format. One or two floats may look like
 * text: of so few bytes a newline has to be the last. */
static inline void refuse_other_formats(const array *a)
{
    size_t k = 0;
    while (k < a->is_ahead && ((a->ahead[k] >= ' ' && a->ahead[k] <= '~') ||
                               (a->ahead[k] >= '\t' && a->ahead[k] <= '\r')))
        ++k;
    if (memcmp(a->ahead, "\x1f\x8b\x08", 3) == 0) fail(1, "%s: is gzip: zcat it", a->name);
    if (memcmp(a->ahead, "PK\3\4", 4) == 0)
        fail(1, "%s: is zip, as .npz is: unzip -p it, one array", a->name);
    if (k > 0 && k == a->is_ahead && (k >= 12 || a->ahead[k - 1] == '\n'))
        fail(1, "%s: is text: read it by numpy.loadtxt, write it by numpy.save", a->name);
}

/* Opens a file, or standard input for "-", up to its first element. */
static inline array open_array(const char *name, fastreduce_type type)
{
    const unsigned short one = 1;
    const int standard = strcmp(name, "-") == 0;
    array a = {.name = name,
               .type = type,
               .size = fastreduce_type_size(type),
               .file = STDIN_FILENO,
               .count = UINT64_MAX};
    struct stat status;
    char extension[8];
    int npy, raw;

    snprintf(extension, sizeof extension, ".%s", fastreduce_type_name(type));
    raw = !standard && name_ends_in(&a, extension);
    if (standard) a.name = "standard input";
    if (!standard) a.file = open(name, O_RDONLY);
    if (a.file < 0 && errno == ENOENT && *name >= '0' && *name <= '9')
        fail(2, "no such file and no such number: %s; numbers are like " SIZE_FORMS, name);
    if (a.file < 0 || fstat(a.file, &status) != 0)
        fail(1, "%s: %s", *name ? a.name : "an empty file name", strerror(errno));
    if (S_ISDIR(status.st_mode)) fail(1, "%s: is a directory", a.name);
    if (*(const unsigned char *)&one != 1)
        fail(1, "floats are read as they lie in memory, which needs a little-endian machine");
    if (S_ISREG(status.st_mode)) a.begin = lseek(a.file, 0, SEEK_CUR);
    a.seekable = S_ISREG(status.st_mode) && a.begin >= 0;

    a.is_ahead = read_bytes(&a, a.ahead, 6, a.begin);
    npy = memcmp(a.ahead, "\x93NUMPY", 6) == 0;
    if (npy) {
        a.begin += 6;
        a.is_ahead = 0;
        read_npy_header(&a);
    } else if (a.is_ahead == 0 && (standard || S_ISFIFO(status.st_mode) || (a.seekable && !raw))) {
        fail(1, "%s: is empty: no input", a.name);
    } else if (!raw && a.is_ahead == 6) {
        a.is_ahead += read_bytes(&a, a.ahead + 6, sizeof a.ahead - 6, a.begin + 6);
    }
    if (!npy && !raw) refuse_other_formats(&a);
    if (!npy && !raw && a.seekable && !standard)
        fail(1, "%s: neither begins as a .npy file does, nor is its name that of raw floats, %s",
             a.name, extension);
    if (a.seekable) check_size(&a, npy, status.st_size);
    return a;
}

/* For a number so many generated floats, else open_array. */
static inline array open_input(const char *name, fastreduce_type type,
                               float (*generate)(uint64_t i))
{
    array a = {
        .name = name, .type = type, .size = fastreduce_type_size(type), .generate = generate};
    return parse_size(name, &a.count) ? a : open_array(name, type);
}

#endif
