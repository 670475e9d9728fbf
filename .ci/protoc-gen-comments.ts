/**
 * A plugin of buf: writes the comments of the contract's messages and enums, which descriptors do not have at run time,
 * to `holdfast/v1/comments.json`, by message and field, or enum and value; that of the whole has the name ''.
 */
import { readFileSync } from 'node:fs';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  CodeGeneratorRequestSchema,
  CodeGeneratorResponse_Feature,
  CodeGeneratorResponseSchema,
  type FileDescriptorProto,
} from '@bufbuild/protobuf/wkt';

const { protoFile } = fromBinary(CodeGeneratorRequestSchema, readFileSync(0));
const files = protoFile.filter((file) => file.package === 'holdfast.v1');
const fields = files.flatMap(({ messageType }) => messageType.flatMap(({ field }) => field));
const jsonNames = new Map(fields.map(({ name, jsonName }) => [name, jsonName]));

const content = JSON.stringify(Object.fromEntries(files.flatMap(commentsOf)), undefined, 2);
const response = create(CodeGeneratorResponseSchema, {
  supportedFeatures: BigInt(CodeGeneratorResponse_Feature.PROTO3_OPTIONAL),
  file: [{ name: 'holdfast/v1/comments.json', content: `${content}\n` }],
});
process.stdout.write(toBinary(CodeGeneratorResponseSchema, response));

function commentsOf({ sourceCodeInfo, messageType, enumType }: FileDescriptorProto) {
  const comments = new Map(sourceCodeInfo?.location.map(({ path, leadingComments }) => [path.join(), leadingComments]));
  // Paths are made of field numbers in descriptor.proto: 4 and 5 are messages and enums of a file, 2 is what they
  // consist of.
  const commented = (name: string, path: string, parts: readonly string[]) => {
    const ofParts = parts.map((part, index) => [part, plain(comments.get(`${path},2,${index}`))]);
    return [name, Object.fromEntries([['', plain(comments.get(path))], ...ofParts])];
  };
  return [
    ...messageType.map(({ name, field }, index) =>
      commented(
        name,
        `4,${index}`,
        field.map(({ jsonName }) => jsonName),
      ),
    ),
    ...enumType.map(({ name, value }, index) =>
      commented(
        name,
        `5,${index}`,
        value.map((one) => one.name),
      ),
    ),
  ];
}

/** In one line, without the full stop, with the names of fields as JSON has them. */
function plain(comment = ''): string {
  const text = comment.trim().replaceAll(/\s+/g, ' ').replace(/\.$/, '');
  return text.replaceAll(/\b[a-z]+(_[a-z0-9]+)+\b/g, (name) => jsonNames.get(name) ?? name);
}
