# Builds @NAME@.so; `make check` runs it against the reference, `make check-memory` with the sanitizers, `make conform`
# checks it against the HAL contract.
CFLAGS ?= -O2 -g -Wall -Wextra

# The program that the checks run: HALCYON where it is set (make check HALCYON=PATH), else the halcyon that wrote this
# file, or the one on PATH where that is gone. The recipes read them from the environment, so that paths may have spaces.
export HALCYON ?=
export written_by := @HALCYON@
halcyon = "$${HALCYON:-$$(command -v "$$written_by" || echo halcyon)}"

sources = driver.c kernels.c kernel_conv_2d.c
headers = kernels.h hal.h hal_validate.h
build = $(CC) -std=c11 -D_DEFAULT_SOURCE $(CPPFLAGS) $(CFLAGS) -fPIC -shared $(LDFLAGS) -o $@ $(sources) $(LDLIBS)
operations = ADD CONV_2D SVDF
graphs = --types TENSOR_FLOAT32,TENSOR_QUANT8_ASYMM,TENSOR_QUANT8_SYMM_PER_CHANNEL --ops 1-2 --seed 1 --count 100

@NAME@.so: $(sources) $(headers)
	$(build)

check: @NAME@.so
	$(halcyon) devices lib:@NAME@.so
	for op in $(operations); do $(halcyon) random --op $$op $(graphs) -d lib:@NAME@.so || exit; done

conform: @NAME@.so
	$(halcyon) conform -d lib:@NAME@.so

# In process, so that the sanitizers report leaks and bad accesses with their place in the source.
@NAME@-memory.so: override CFLAGS = -O1 -g -fsanitize=address,undefined -fno-omit-frame-pointer -Wl,-z,nodelete
@NAME@-memory.so: $(sources) $(headers)
	$(build)

check-memory: @NAME@-memory.so
	for op in $(operations); do \
		LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so)" \
		$(halcyon) random --op $$op $(graphs) --in-process -d lib:@NAME@-memory.so || exit; done

clean:
	rm -f @NAME@.so @NAME@-memory.so halcyon.db halcyon.db-shm halcyon.db-wal

.PHONY: check check-memory clean conform
