# Builds @NAME@.so; `make check` runs it against the reference.
CFLAGS ?= -O2 -g -Wall -Wextra
HALCYON ?= halcyon

@NAME@.so: driver.c kernels.c kernels.h hal.h
	$(CC) -std=c11 -D_DEFAULT_SOURCE $(CPPFLAGS) $(CFLAGS) -fPIC -shared $(LDFLAGS) -o $@ \
		driver.c kernels.c

check: @NAME@.so
	$(HALCYON) devices lib:@NAME@.so
	$(HALCYON) random --op ADD --ops 1-2 --seed 1 --count 200 -d lib:@NAME@.so

clean:
	rm -f @NAME@.so

.PHONY: check clean
