/* A stand-in for the CUDA runtime: see standin_runtime.c. */
#ifdef __cplusplus
extern "C" {
#endif

/* Who calls the library now, and for what: the log's next lines begin with that. */
void standin_caller(const char *part, const char *call);

/* A line of the log. */
void standin_log(const char *format, ...);

#ifdef __cplusplus
}
#endif
