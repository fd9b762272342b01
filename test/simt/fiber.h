/* A fiber: a flow of control with a stack of its own. On x86-64 a switch saves and loads the registers that a call
 * must preserve; elsewhere, or with SIMT_UCONTEXT defined, it is swapcontext, which is portable and slower (it also
 * saves the signal mask, two system calls a switch). */
#ifndef SIMT_FIBER_H
#define SIMT_FIBER_H

#include <cstddef>
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

namespace simt
{

struct fiber {
#ifdef SIMT_UCONTEXT
    ucontext_t context;
#else
    void *stack_pointer;
#endif
};

/* Makes a fiber that will enter `entry`, which never returns, on the given stack. */
inline void make_fiber(fiber &made, char *stack, size_t bytes, void (*entry)())
{
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
}

inline void switch_fiber(fiber &from, fiber &to)
{
#ifdef SIMT_UCONTEXT
    swapcontext(&from.context, &to.context);
#else
    simt_switch(&from.stack_pointer, to.stack_pointer);
#endif
}

} // namespace simt
#endif
