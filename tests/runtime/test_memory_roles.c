/* Roles of memories belong to a compilation, not to its address, which another one may get. */
#include "runtime/compile/compilation.h"
#include "tests/runtime/nnapi_client.h"
#include "tests/support/check_main.h"

/* As if each had got the address of the other. */
static void exchange(ANeuralNetworksCompilation *a, ANeuralNetworksCompilation *b)
{
    const ANeuralNetworksCompilation c = *a;

    *a = *b;
    *b = c;
}

/* The result of setting the memory as input 0 of an execution of c. */
static int set_input(ANeuralNetworksCompilation *c, const ANeuralNetworksMemory *memory)
{
    ANeuralNetworksExecution *e;

    OK(ANeuralNetworksExecution_create(c, &e));
    int result = ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, 0, 0);
    ANeuralNetworksExecution_free(e);
    return result;
}

START_TEST(address_of_another_compilation)
{
    ANeuralNetworksMemoryDesc *desc;
    ANeuralNetworksMemory *memory;

    use_devices("");
    ANeuralNetworksModel *m = add_model(1);
    ANeuralNetworksCompilation *first = compile_on(m, NULL), *second = compile_on(m, NULL);
    OK(ANeuralNetworksMemoryDesc_create(&desc));
    OK(ANeuralNetworksMemoryDesc_addInputRole(desc, first, 0, 1));
    EXPECT(ANeuralNetworksMemoryDesc_addInputRole(desc, first, 0, 1), BAD_DATA);
    exchange(first, second);
    EXPECT(ANeuralNetworksMemoryDesc_addInputRole(desc, second, 0, 1), BAD_DATA);
    exchange(first, second);
    OK(ANeuralNetworksMemoryDesc_finish(desc));
    OK(ANeuralNetworksMemory_createFromDesc(desc, &memory));
    ANeuralNetworksMemoryDesc_free(desc);
    OK(set_input(first, memory));
    EXPECT(set_input(second, memory), BAD_DATA);
    exchange(first, second);
    EXPECT(set_input(first, memory), BAD_DATA);
    OK(set_input(second, memory));
    ANeuralNetworksMemory_free(memory);
    ANeuralNetworksCompilation_free(first);
    ANeuralNetworksCompilation_free(second);
    ANeuralNetworksModel_free(m);
}
END_TEST

Suite *memory_roles_suite(void)
{
    TCase *all = tcase_create("all");

    tcase_add_test(all, address_of_another_compilation);
    return make_suite("memory_roles", all, NULL);
}
