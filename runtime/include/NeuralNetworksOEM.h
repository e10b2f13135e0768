/* Deprecated codes of NNAPI for operands and operations of one vendor; extensions replace them. */
#ifndef RUNTIME_NEURAL_NETWORKS_OEM_H
#define RUNTIME_NEURAL_NETWORKS_OEM_H

#include "NeuralNetworks.h"

typedef enum {
    ANEURALNETWORKS_OEM_SCALAR = 10000,
    ANEURALNETWORKS_TENSOR_OEM_BYTE = 10001
} OEMOperandCode;

typedef enum { ANEURALNETWORKS_OEM_OPERATION = 10000 } OEMOperationCode;

#endif
