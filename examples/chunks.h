/* The floats of several arrays, in chunks, read by several threads at once, and how far they
 * are, on a terminal. POSIX threads. A program defines END_PROGRAM as end_with_progress before it
 * includes common.h and array.h, and this after them. */
#ifndef FASTREDUCE_EXAMPLES_CHUNKS_H
#define FASTREDUCE_EXAMPLES_CHUNKS_H

#include <pthread.h>

enum {
    MOST_THREADS = 256,
    MAPPED_CHUNK = 1 << 20 /* floats: 4 MiB, as what is not copied need not stay in a cache */
};

static struct {
    /* guarded by turn, which is held while a pipe is read */
    pthread_mutex_t turn;
    array *now, *end;  /* the array that is read, and the end of all */
    uint64_t position; /* of the next float in it */

    /* guarded by lock, as standard error is */
    pthread_mutex_t lock;
    pthread_cond_t thread_ended;
    int running;           /* threads */
    int progress_is_shown; /* on the terminal's last line */
    uint64_t bytes;        /* read */

    /* constant while threads run */
    uint64_t total; /* bytes; UINT64_MAX where a pipe shows it at its end */
    void (*work)(void);
    const char *where; /* "CPU", say */
    double start, seconds;
} chunks = {.turn = PTHREAD_MUTEX_INITIALIZER,
            .lock = PTHREAD_MUTEX_INITIALIZER,
            .thread_ended = PTHREAD_COND_INITIALIZER};

/* ---- Reading --------------------------------------------------------------------------------- */

static void set_chunks(array *first, array *end)
{
    chunks.now = first;
    chunks.end = end;
    for (; first < end; ++first) {
        if (first->count > (UINT64_MAX - chunks.total) / 4)
            chunks.total = UINT64_MAX;
        else
            chunks.total += 4 * first->count;
    }
}

static void count_bytes(size_t bytes)
{
    pthread_mutex_lock(&chunks.lock);
    chunks.bytes += bytes;
    pthread_mutex_unlock(&chunks.lock);
}

/* The next floats of a pipe, fewer only at its end, where it shows whether it is whole. */
static size_t read_pipe(array *a, float *chunk, size_t capacity)
{
    const int promised = a->count != UINT64_MAX;
    size_t bytes = a->is_ahead, got = 1;
    char more;

    if (promised && chunks.position == a->count) {
        if (read_some(a, &more, 1, 0) > 0) fail(1, "%s: has bytes after its array", a->name);
        return 0;
    }
    memcpy(chunk, a->ahead, bytes);
    a->is_ahead = 0;
    count_bytes(bytes);
    while (bytes < 4 * capacity && got > 0) {
        got = read_some(a, (char *)chunk + bytes, 4 * capacity - bytes, 0);
        bytes += got;
        count_bytes(got);
    }
    if (got == 0 && promised)
        fail(1, "%s: ends early, after %" PRIu64 " of %" PRIu64 " floats", a->name,
             chunks.position + bytes / 4, a->count);
    if (got == 0 && bytes % 4)
        fail(1, "%s: ends within a float, after %d of its 4 bytes", a->name, (int)(bytes % 4));
    return bytes / 4;
}

/* Floats that no other thread has, of one of the arrays, in the buffer or where they are mapped;
 * null at the end of all. A pipe is read by one thread after the other, the rest side by side. */
static const float *next_chunk(float *buffer, size_t capacity, size_t *floats)
{
    array *a = NULL;
    uint64_t begin = 0;
    size_t count = 0;
    int is_pipe = 0;

    pthread_mutex_lock(&chunks.turn);
    for (; count == 0 && chunks.now < chunks.end; chunks.position += count) {
        a = chunks.now;
        begin = chunks.position;
        is_pipe = !a->generate && !a->seekable;
        count = a->map ? MAPPED_CHUNK : capacity;
        if (count > a->count - begin) count = (size_t)(a->count - begin);
        if (is_pipe) count = read_pipe(a, buffer, count);
        if (count > 0) continue;
        ++chunks.now;
        chunks.position = 0;
    }
    pthread_mutex_unlock(&chunks.turn);
    *floats = count;
    if (count == 0) return NULL;
    if (is_pipe) return buffer;
    if (!a->map) read_floats(a, buffer, begin, count);
    count_bytes(4 * count);
    return a->map ? a->map + begin : buffer;
}

/* ---- Progress -------------------------------------------------------------------------------- */

static void show_bytes(double bytes, const char *after)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    int k = 0;
    for (; bytes >= 999.5 && k < 4; ++k) bytes /= 1000;
    fprintf(stderr, "%.3g %s%s", bytes, units[k], after);
}

static void show_progress(void)
{
    const double time = seconds() - chunks.start;
    const double done = (double)chunks.bytes, total = (double)chunks.total;
    if (time < 1 || !isatty(STDERR_FILENO)) return;
    chunks.progress_is_shown = 1;
    fprintf(stderr, "\rsumming on the %s: ", chunks.where);
    show_bytes(done, "");
    if (chunks.total != UINT64_MAX) { /* 100 % is for the sum */
        fputs(" of ", stderr);
        show_bytes(total, "");
        fprintf(stderr, ", %d %%", done < 0.99 * total ? (int)(100 * done / total) : 99);
    }
    fputs(", ", stderr);
    show_bytes(done / time, "/s");
    if (chunks.total != UINT64_MAX && done > 0)
        fprintf(stderr, ", %.0f s left", time * (total - done) / done);
    fputs("\033[K", stderr);
}

static void erase_progress(void)
{
    if (chunks.progress_is_shown) fputs("\r\033[K", stderr);
    chunks.progress_is_shown = 0;
}

/* A failure keeps the lock, to silence those of other threads. */
static inline void end_with_progress(int status, const char *text)
{
    if (status != 0) pthread_mutex_lock(&chunks.lock);
    erase_progress();
    end_program(status, text);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void *run_thread(void *unused)
{
    chunks.work();
    pthread_mutex_lock(&chunks.lock);
    --chunks.running;
    pthread_cond_signal(&chunks.thread_ended);
    pthread_mutex_unlock(&chunks.lock);
    return unused;
}

/* Does the work on `wanted` threads, or as many as there are: returns how many. */
static int run_threads(void (*work)(void), int wanted, const char *where)
{
    pthread_t threads[MOST_THREADS];
    int k;

    chunks.work = work;
    chunks.where = where;
    chunks.start = seconds();
    pthread_mutex_lock(&chunks.lock); /* which no thread gets until all are there */
    chunks.running = wanted;
    for (k = 0; k < wanted && pthread_create(&threads[k], NULL, run_thread, NULL) == 0;) ++k;
    chunks.running = k;
    while (chunks.running > 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 200000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&chunks.thread_ended, &chunks.lock, &until);
        if (chunks.running > 0) show_progress();
    }
    erase_progress();
    pthread_mutex_unlock(&chunks.lock);
    chunks.seconds = seconds() - chunks.start;
    if (k == 0) fail(1, "no thread can be started");
    wanted = k;
    while (k > 0) pthread_join(threads[--k], NULL);
    return wanted;
}

#endif
