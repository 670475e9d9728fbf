import { type DescFile, type DescService, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import type { MessageTypeDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { Health } from '../../../../proto/gen/grpc/health/v1/health_pb.js';

/**
 * Server reflection (grpc.reflection.v1 and v1alpha), made from the generated descriptors, so that it cannot lag behind the
 * contract. It needs no credential: it contains only the contract.
 */
export function reflectionOf(services: readonly DescService[]): ReflectionService {
  const files = new Map<string, DescFile>();
  for (const service of [...services, Health]) collect(service.file, files);
  const ours = [...files.values()].map(({ proto }) => Buffer.from(toBinary(FileDescriptorProtoSchema, proto)));
  // Of a package definition only its files matter here. proto-loader itself would merge ours and lose their imports.
  const definition = { fileDescriptorProtos: ours } as MessageTypeDefinition<object, object>;
  return new ReflectionService({ holdfast: definition });
}

/** Adds a file after its imports, each once. */
function collect(file: DescFile, files: Map<string, DescFile>): void {
  if (files.has(file.proto.name)) return;
  for (const dependency of file.dependencies) collect(dependency, files);
  files.set(file.proto.name, file);
}
