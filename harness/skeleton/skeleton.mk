# Builds @NAME@.so; `make check` runs it against the reference, `make check-memory` with the sanitizers.
CFLAGS ?= -O2 -g -Wall -Wextra
HALCYON ?= halcyon

sources = driver.c kernels.c
headers = kernels.h hal.h
build = $(CC) -std=c11 -D_DEFAULT_SOURCE $(CPPFLAGS) $(CFLAGS) -fPIC -shared $(LDFLAGS) -o $@ $(sources) $(LDLIBS)
graphs = --op ADD --types TENSOR_FLOAT32 --ops 1-2 --seed 1 --count 200

@NAME@.so: $(sources) $(headers)
	$(build)

check: @NAME@.so
	$(HALCYON) devices lib:@NAME@.so
	$(HALCYON) random $(graphs) -d lib:@NAME@.so

# Without worker processes, so that what is lost, or not the driver's, is told with its place.
@NAME@-memory.so: override CFLAGS = -O1 -g -fsanitize=address,undefined
@NAME@-memory.so: $(sources) $(headers)
	$(build)

check-memory: @NAME@-memory.so
	LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so)" \
		$(HALCYON) random $(graphs) --in-process -d lib:@NAME@-memory.so

clean:
	rm -f @NAME@.so @NAME@-memory.so halcyon.db halcyon.db-shm halcyon.db-wal

.PHONY: check check-memory clean
