/* NNAPI for vendor extensions: types, operations and attributes that a device's driver defines. */
#ifndef RUNTIME_NEURAL_NETWORKS_EXTENSIONS_H
#define RUNTIME_NEURAL_NETWORKS_EXTENSIONS_H

#include "NeuralNetworks.h"

__BEGIN_DECLS

/* Whether the device lists an extension of this name, as "com.example.filters". */
int ANeuralNetworksDevice_getExtensionSupport(const ANeuralNetworksDevice *device,
                                              const char *extensionName,
                                              bool *isExtensionSupported);
/* The type or operation code that has this code within its extension.  Valid in this process. */
int ANeuralNetworksModel_getExtensionOperandType(ANeuralNetworksModel *model,
                                                 const char *extensionName,
                                                 uint16_t operandCodeWithinExtension,
                                                 int32_t *type);
int ANeuralNetworksModel_getExtensionOperationType(ANeuralNetworksModel *model,
                                                   const char *extensionName,
                                                   uint16_t operationCodeWithinExtension,
                                                   ANeuralNetworksOperationType *type);
/* Parameters of an operand of an extension's type, which the driver interprets.  Copied. */
int ANeuralNetworksModel_setOperandExtensionData(ANeuralNetworksModel *model, int32_t index,
                                                 const void *data, size_t length);
/* Hints for the driver.  Only for exactly one chosen device.  Copied. */
int ANeuralNetworksCompilation_addExtensionAttribute(ANeuralNetworksCompilation *compilation,
                                                     const char *extensionName,
                                                     uint16_t attributeCodeWithinExtension,
                                                     const void *data, size_t length);
int ANeuralNetworksExecution_addExtensionAttribute(ANeuralNetworksExecution *execution,
                                                   const char *extensionName,
                                                   uint16_t attributeCodeWithinExtension,
                                                   const void *data, size_t length);

__END_DECLS

#endif
