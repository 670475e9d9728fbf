/** Where the identifier that captures a hold may appear: docs/interfaces.md, "Money, identifiers, time". */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import type { AnyDesc, DescMessage } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { ROOT } from '../../.ci/sources.ts';
import { createDocument } from '../../gateway/openapi/document.ts';

const CONTRACT = `${ROOT}proto/gen/holdfast/v1/`;
/**
 * Lists use the first one too; test/services/core/rpc/server/scope.test.ts shows that core leaves the field empty
 * there.
 */
const MAY_CARRY_IT = [
  'CapturePreauthorizationRequest',
  'ExtendPreauthorizationRequest',
  'GetPreauthorizationRequest',
  'IncrementPreauthorizationRequest',
  'PartiallyReleasePreauthorizationRequest',
  'Preauthorization',
  'ReleasePreauthorizationRequest',
  'RenewPreauthorizationRequest',
];
/** Messages for streams, receivers of notifications and operators only. */
const SHOWN =
  /^(Watch\w+|Operation|Delivery|DeliveryAttempt|ReviewItem|AuditEntry|\w+Notification|VerificationFailure|Minute)(Response)?$/;

describe('preauthorizationId', () => {
  let descriptions: AnyDesc[];

  before(async () => {
    const files = (await readdir(CONTRACT)).filter((name) => name.endsWith('_pb.js'));
    const modules = await Promise.all(files.map((name) => import(CONTRACT + name) as Promise<Record<string, AnyDesc>>));
    descriptions = modules.flatMap((module) => Object.values(module)).filter((each) => typeof each.kind === 'string');
  });

  it('is only in the hold message and in requests that name a hold', () => {
    const carriers = descriptions.flatMap((each) =>
      each.kind === 'message' && each.fields.some(({ name }) => name === 'preauthorization_id') ? [each.name] : [],
    );
    assert.deepEqual(carriers.sort(), MAY_CARRY_IT);
  });

  it('is in no message within a stream, a notification or an answer for operators', () => {
    const messages = descriptions.filter((each) => each.kind === 'message');
    const shown = messages.filter(({ name }) => SHOWN.test(name));
    assert(shown.length >= 10);
    for (const message of shown) {
      const below = [...messagesBelow(message)].map(({ name }) => name);
      assert.deepEqual(
        below.filter((name) => MAY_CARRY_IT.includes(name)),
        [],
        message.name,
      );
    }
  });

  it('is in no URL: no path or query contains it, and no method of core allows GET', () => {
    const { paths } = createDocument();
    assert(Object.keys(paths).length > 5);
    for (const [path, methods] of Object.entries(paths)) {
      for (const operation of Object.values(methods)) {
        assert.doesNotMatch(path + JSON.stringify(operation.parameters ?? []), /"?preauthorizationId"?/, path);
      }
    }
    const methods = descriptions.flatMap((each) => (each.kind === 'service' ? each.methods : []));
    assert(methods.length >= 35);
    for (const { name, idempotency } of methods)
      assert.notEqual(idempotency, MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS, name);
  });
});

/** Returns a message and all that its fields reach. */
function messagesBelow(message: DescMessage, seen = new Set<DescMessage>()): Set<DescMessage> {
  if (seen.has(message)) return seen;
  seen.add(message);
  for (const field of message.fields) if (field.message) messagesBelow(field.message, seen);
  return seen;
}
