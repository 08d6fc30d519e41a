#include <stdio.h>
#define RING_SIZE 64
#define FOR_EACH(it, r) \
	for (int it = 0; it < (r)->n; it++) {
#ifdef DEBUG
#  define LOG(...) fprintf(stderr, __VA_ARGS__)
#else
#  define LOG(...)
#endif

typedef int (*ring_cb)(void *ctx, const char *text);
typedef unsigned long ring_size;

typedef struct ring {
	int n;
	struct { int a; } inner;
	union { char c; float f; };
} ring_t;

enum ring_state { RING_OPEN, RING_CLOSED = 2 };

struct node;
extern int ring_debug;
static const char *names[] = { "a{", "b\"" };
int ring_count = 0, ring_max;

int ring_push(ring_t *r, int v);

static inline int
ring_grow(struct ring *r, int by)
{
#if defined(A) && \
    defined(B)
	if (by > 1) {
#else
	if (by > 2) {
#endif
		r->n += by; /* } */
	}
	return '{' + '\'';
}

__attribute__((noinline)) struct node *ring_find(const ring_t *r, ring_cb cb)
{
	FOR_EACH(i, r)
		cb(0, "}");
	}
	return 0;
}

void (*ring_handler(int sig))(int) { return 0; }
