/** What a merchant reads of a hold, in core and in the model. */
import assert from 'node:assert/strict';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { HoldStatus } from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { booksOf, type HoldModel } from './hold-model.ts';
import type { Possible } from './predict.ts';
import type { Subject } from './subject.ts';
import type { World } from './world.ts';

/** Reads a hold. Returns what core answers, and what the model does. */
export async function readHold(
  world: World,
  { merchantId, requestId, possible }: Subject,
): Promise<{ readonly reply: string; readonly all: readonly Possible[] }> {
  const { preauthorization: hold } = await world.cores[0].holds.getPreauthorization({ merchantId, requestId });
  assert(hold);
  const counters = [hold.amountCaptured, hold.amountInFlight, hold.amountRemaining, hold.amountReleased];
  const times = [hold.captureAt, hold.releaseAt, hold.keepUntil].map((at) => (at ? timestampMs(at) : 0));
  const chain = hold.authorizations.length;
  const reply = `${counters.join('/')} ${HoldStatus[hold.status]} ${hold.frozen} ${times.join('/')} ${chain}`;
  return { reply, all: possible.map((model) => ({ hold: model, replies: [wordOf(model)] })) };
}

function wordOf(model: HoldModel): string {
  const { captured, inFlight, remaining, released, status } = booksOf(model);
  const { captureAt, releaseAt, keepUntil, attempts } = model;
  const renewals = attempts.filter(({ kind, state }) => kind === 'RENEWAL' && state === 'OK').length;
  const chain = model.placing === 'OK' && (keepUntil > 0 || renewals > 0) ? renewals + 1 : 0;
  const books = `${captured}/${inFlight}/${remaining}/${released} ${status} ${model.frozen}`;
  return `${books} ${captureAt}/${releaseAt}/${keepUntil} ${chain}`;
}
