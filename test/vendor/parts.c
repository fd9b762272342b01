/* A program of two parts that each carry a copy of FastReduce, see part.cu. */
#include <stdio.h>

int first(void);
int second(void);

int main(void)
{
    const int a = first(), b = second();
    if (a == 0 && b == 0) return 0;
    printf("first: %d, second: %d\n", a, b);
    return 1;
}
