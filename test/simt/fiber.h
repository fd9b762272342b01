/* A fiber: a flow of control with a stack of its own. On x86-64 a switch saves and loads the
 * registers that a call must preserve; elsewhere, or with SIMT_UCONTEXT defined, it is
 * swapcontext, which is portable and slower (it also saves the signal mask, two system calls a
 * switch). The address and the thread sanitizer are told of each switch. */
#ifndef SIMT_FIBER_H
#define SIMT_FIBER_H

#include <cstddef>
#ifdef __has_feature /* how Clang says what GCC says by a macro */
#if __has_feature(address_sanitizer)
#define SIMT_ADDRESS_SANITIZER
#endif
#if __has_feature(thread_sanitizer)
#define SIMT_THREAD_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(SIMT_ADDRESS_SANITIZER)
#define SIMT_ADDRESS_SANITIZER
#endif
#if defined(__SANITIZE_THREAD__) && !defined(SIMT_THREAD_SANITIZER)
#define SIMT_THREAD_SANITIZER
#endif
#if defined(SIMT_ADDRESS_SANITIZER) || defined(SIMT_THREAD_SANITIZER)
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/tsan_interface.h>
#endif
#if !defined(SIMT_UCONTEXT) && !defined(__x86_64__)
#define SIMT_UCONTEXT
#endif
#ifdef SIMT_UCONTEXT
#include <ucontext.h>
#else
extern "C" void simt_switch(void **save, void *load);
__asm__(".text\n"
        ".weak simt_switch\n"
        ".type simt_switch, @function\n"
        "simt_switch:\n"
        "pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
        "movq %rsp, (%rdi)\n"
        "movq %rsi, %rsp\n"
        "popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n"
        "ret\n"
        ".size simt_switch, . - simt_switch\n");
#endif

#ifdef SIMT_ADDRESS_SANITIZER
/* A thread that a report stops in mid-function keeps what it owns. */
extern "C" __attribute__((weak, used)) const char *__asan_default_options();
extern "C" __attribute__((weak, used)) const char *__asan_default_options()
{
    return "detect_leaks=0";
}
#endif

namespace simt
{

struct fiber {
#ifdef SIMT_UCONTEXT
    ucontext_t context;
#else
    void *stack_pointer;
#endif
#ifdef SIMT_ADDRESS_SANITIZER
    void *stack, *fake_stack; /* where it begins; what the sanitizer keeps */
    size_t bytes;
#endif
#ifdef SIMT_THREAD_SANITIZER
    void *known_as;
#endif
};

/* For the fiber that a host thread itself is. */
inline void adopt_thread(fiber &self)
{
#ifdef SIMT_ADDRESS_SANITIZER
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &self.stack, &self.bytes);
    pthread_attr_destroy(&attributes);
#endif
#ifdef SIMT_THREAD_SANITIZER
    self.known_as = __tsan_get_current_fiber();
#endif
    (void)self;
}

/* A fiber's first act. With detect_stack_use_after_return the sanitizer keeps locals on a fake
 * stack, in the heap. A fiber takes over that of the last one on its own stack, or they would
 * pile up, 0.7 MB each. That one may have been left in mid-function: the frames it had there are
 * free again from handle_no_return on. */
inline void begin_fiber(fiber &self)
{
#ifdef SIMT_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(self.fake_stack, nullptr, nullptr);
    if (self.fake_stack) __asan_handle_no_return();
#endif
    (void)self;
}

/* Whether an address is of a local variable of the fiber that runs, on its fake stack. */
inline bool on_fake_stack(const void *address)
{
#ifdef SIMT_ADDRESS_SANITIZER
    void *fake_stack = __asan_get_current_fake_stack();
    return fake_stack &&
           __asan_addr_is_in_fake_stack(fake_stack, const_cast<void *>(address), nullptr, nullptr);
#else
    (void)address;
    return false;
#endif
}

/* The last fiber there may have been left in mid-function. */
inline void clear_stack(char *stack, size_t bytes)
{
#ifdef SIMT_ADDRESS_SANITIZER
    __asan_unpoison_memory_region(stack, bytes);
#endif
    (void)stack, (void)bytes;
}

/* Gives up the fake stack of a fiber that will not run again: `self`, which runs, takes its
 * place for a moment, and leaves it for good. */
inline void drop_fake_stack(fiber &self, fiber &dead)
{
#ifdef SIMT_ADDRESS_SANITIZER
    if (!dead.fake_stack) return;
    __sanitizer_start_switch_fiber(&self.fake_stack, dead.stack, dead.bytes);
    __sanitizer_finish_switch_fiber(dead.fake_stack, nullptr, nullptr);
    __sanitizer_start_switch_fiber(nullptr, self.stack, self.bytes);
    __sanitizer_finish_switch_fiber(self.fake_stack, nullptr, nullptr);
    dead.fake_stack = nullptr;
#endif
    (void)self, (void)dead;
}

/* Makes a fiber that will enter `entry`, which never returns, on the given stack. */
inline void make_fiber(fiber &made, char *stack, size_t bytes, void (*entry)())
{
    clear_stack(stack, bytes);
#ifdef SIMT_UCONTEXT
    getcontext(&made.context);
    made.context.uc_stack.ss_sp = stack;
    made.context.uc_stack.ss_size = bytes;
    made.context.uc_link = nullptr;
    makecontext(&made.context, entry, 0);
#else
    void **top = reinterpret_cast<void **>(stack + bytes);
    *--top = nullptr; /* keeps the stack aligned as after a call */
    *--top = reinterpret_cast<void *>(entry);
    for (int saved = 0; saved < 6; ++saved) *--top = nullptr;
    made.stack_pointer = top;
#endif
#ifdef SIMT_ADDRESS_SANITIZER
    made.stack = stack;
    made.bytes = bytes;
#endif
#ifdef SIMT_THREAD_SANITIZER
    if (!made.known_as) made.known_as = __tsan_create_fiber(0); /* making one takes long */
#endif
}

inline void switch_fiber(fiber &from, fiber &to)
{
#ifdef SIMT_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(&from.fake_stack, to.stack, to.bytes);
#endif
#ifdef SIMT_THREAD_SANITIZER
    __tsan_switch_to_fiber(to.known_as, 0);
#endif
#ifdef SIMT_UCONTEXT
    swapcontext(&from.context, &to.context);
#else
    simt_switch(&from.stack_pointer, to.stack_pointer);
#endif
#ifdef SIMT_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
}

} // namespace simt
#endif
