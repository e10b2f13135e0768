/* VECTOR_LOOP before a function whose loops run over many elements: gcc compiles it for AVX2, too,
 * and the program uses that where the processor has it.  The bits are the same: nothing is
 * contracted or reordered. */
#ifndef GOLDEN_VECTOR_LOOP_H
#define GOLDEN_VECTOR_LOOP_H

#include <stddef.h>

/* Not with sanitizers, which cannot yet run when the choice is made. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) &&                        \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__OPTIMIZE__)
#define VECTOR_LOOP __attribute__((target_clones("avx2", "default")))
/* FMA_FUNCTION before a function that computes with fma(): where the processor has an instruction
 * for it, nothing is called.  Only what is inlined into the function is compiled for it, too. */
#define FMA_FUNCTION __attribute__((target_clones("fma", "default")))
/* FMA_LOOP: both. */
#define FMA_LOOP __attribute__((target_clones("arch=haswell", "default")))
#else
#define VECTOR_LOOP
#define FMA_FUNCTION
#define FMA_LOOP
#endif

#endif
