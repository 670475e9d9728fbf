import { create, type DescFile, type DescService, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { loadFileDescriptorSetFromBuffer, loadSync } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { protoPath as healthProtoPath } from 'grpc-health-check';

/**
 * Server reflection (grpc.reflection.v1 and v1alpha), made from the generated descriptors, so that it cannot lag behind the
 * contract. It needs no credential: it tells nothing but the contract.
 */
export function reflectionOf(services: readonly DescService[]): ReflectionService {
  const files = new Map<string, DescFile>();
  for (const service of services) collect(service.file, files);
  const set = create(FileDescriptorSetSchema, { file: [...files.values()].map(({ proto }) => proto) });
  const ours = loadFileDescriptorSetFromBuffer(Buffer.from(toBinary(FileDescriptorSetSchema, set)));
  return new ReflectionService({ ...ours, ...loadSync(healthProtoPath) });
}

/** Imports come before what imports them, each once. */
function collect(file: DescFile, files: Map<string, DescFile>): void {
  if (files.has(file.proto.name)) return;
  for (const dependency of file.dependencies) collect(dependency, files);
  files.set(file.proto.name, file);
}
