/** Steps that some examples need first and that are no success the document could show. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { credentials } from '@grpc/grpc-js';
import { signNotification } from '../../../client/webhooks/signature.ts';
import { ID, NEW_MERCHANT_ID } from '../../../gateway/openapi/examples/example.ts';
import { openChannel } from '../../../platform/grpc-client.ts';
import {
  ProcessorEventService,
  type ReportEventRequestSchema,
} from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { Answer as ProcessorAnswer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Answer } from '../../../services/quickstart/shop.ts';
import type { Stack } from '../../stack.ts';
import { type Names, translate } from './agree.ts';

/** What a preparation can use: the running service, its values for the examples', and the answers so far. */
export interface Prepared {
  readonly stack: Stack;
  readonly names: Names;
  readonly told: (route: string) => Answer;
}

/** By the route of the example that needs it. */
export const PREPARATIONS: Readonly<Record<string, (at: Prepared) => Promise<unknown>>> = {
  captureHold: forwardAll,
  refundCapture: forwardAll,
  incrementHold: forwardAll,
  extendHold: forwardAll,
  releaseHold: forwardAll,
  listReviews: contradictHold,
  acknowledgeReview: takeBackTooMuch,
  listFailures: sendNotifications,
  listRelayFailures: failAsGitHub,
};

/**
 * Deliveries of a hold are listed in the order in which they began, and each notification comes back to be forwarded:
 * this waits until those before have been.
 */
async function forwardAll({ stack, names }: Prepared): Promise<void> {
  const { baseUrl, operatorToken } = stack.file;
  const url = `${baseUrl}/operator/holds/${translate(ID.supportHold, names)}`;
  for (;;) {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${operatorToken}` } });
    const { deliveries } = (await answer.json()) as { deliveries: { endpointKind: string }[] };
    const forwards = deliveries.filter(({ endpointKind }) => endpointKind === 'INTERNAL');
    if (forwards.length * 2 === deliveries.length) return;
    await delay(25);
  }
}

/** The processor reports as declined what it has approved. */
function contradictHold(at: Prepared): Promise<unknown> {
  const requestId = translate(ID.silentHold, at.names);
  const result = { answer: ProcessorAnswer.DECLINED };
  return reportEvent(at, `contradiction-${requestId}`, { case: 'operationSettled', value: { requestId, result } });
}

/** The processor reports that more of a capture was taken back than there is. */
async function takeBackTooMuch(at: Prepared): Promise<void> {
  const captureRequestId = translate(ID.supportCapture, at.names);
  const value = { captureRequestId, amount: 999_999_999n, reference: 'rev_1' };
  await assert.rejects(reportEvent(at, `too-much-${captureRequestId}`, { case: 'captureReversed', value }));
}

async function reportEvent(
  { stack }: Prepared,
  eventId: string,
  event: MessageInitShape<typeof ReportEventRequestSchema>['event'],
): Promise<void> {
  const { processorToken: token } = JSON.parse(await readFile(`${stack.dataDir}/secrets.json`, 'utf8'));
  const channel = openChannel({
    address: stack.file.coreUrl,
    credentials: credentials.createInsecure(),
    token,
    timeoutMs: 10_000,
  });
  try {
    const request = { eventId, occurredAt: timestampNow(), ...(event && { event }) };
    await channel.client(ProcessorEventService).reportEvent(request);
  } finally {
    channel.close();
  }
}

/**
 * Sends a forged notification of the new merchant, one that contradicts its path, and two that contradict each other.
 */
async function sendNotifications({ stack, told }: Prepared): Promise<void> {
  const { signingSecret: secret } = told('addSigningSecret').body;
  await untilChangedOver(stack, told('createMerchant').body.apiKey, told('createApiKey').body.apiKey);
  const send = async (requestId: string, amount: string, statusInfo: string, key = secret) => {
    const fields = { merchantId: NEW_MERCHANT_ID, requestId, status: 'OK', amount, currency: 'EUR' };
    const headers = { 'X-Service-Signature': signNotification(key, fields) };
    return (await stack.shop.post(`/webhook/processor/payment/${statusInfo}`, fields, headers)).status;
  };
  assert.equal(await send('invoice-18', '10.50', 'captured', 'whsec_guessed'), 401);
  assert.equal(await send('invoice-17', '10.50', 'reversed'), 202);
  assert.equal(await send('invoice-16', '10.50', 'captured'), 200);
  assert.equal(await send('invoice-16', '99.00', 'captured'), 202);
}

/** Sends a body that was signed with a line break behind it. */
async function failAsGitHub({ stack, names }: Prepared): Promise<void> {
  const path = `/webhook/relay/${translate(ID.sender, names)}`;
  const signature = createHmac('sha256', "It's a Secret to Everybody").update('{}\n').digest('hex');
  const { status } = await stack.shop.post(path, {}, { 'X-Hub-Signature-256': `sha256=${signature}` });
  assert.equal(status, 401);
}

/** Waits until the gateway has the newer key and has dropped the older one, a change made after the newer secret. */
async function untilChangedOver({ file }: Stack, older: string, newer: string): Promise<void> {
  const statusOf = async (apiKey: string) => {
    const headers = { authorization: `Bearer ${apiKey}` };
    return (await fetch(`${file.baseUrl}/operations?pageSize=1`, { headers })).status;
  };
  while ((await statusOf(newer)) !== 200 || (await statusOf(older)) !== 401) await delay(25);
}
