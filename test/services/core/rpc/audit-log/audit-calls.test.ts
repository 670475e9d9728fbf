import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { timestampFromDate, timestampFromMs, timestampNow } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import type { GrpcCall } from '../../../../../platform/grpc-client.ts';
import { MerchantService } from '../../../../../proto/gen/holdfast/v1/merchant_pb.js';
import {
  EndpointKind,
  NotificationKind,
  NotificationService,
  QuarantineReason,
} from '../../../../../proto/gen/holdfast/v1/notification_pb.js';
import { OctService } from '../../../../../proto/gen/holdfast/v1/oct_pb.js';
import { OperationService } from '../../../../../proto/gen/holdfast/v1/operation_pb.js';
import { OperatorService } from '../../../../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { PreauthorizationService } from '../../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { RefundService } from '../../../../../proto/gen/holdfast/v1/refund_pb.js';
import { RelayService } from '../../../../../proto/gen/holdfast/v1/relay_pb.js';
import { WebhookEndpointService } from '../../../../../proto/gen/holdfast/v1/webhook_endpoint_pb.js';
import { changesSomething } from '../../../../../services/core/rpc/audit-log/audit-calls.ts';
import { rolesFor } from '../../../../../services/core/rpc/server/access.ts';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { contract, openStage, refusal, why } from '../../stage.ts';
import { endpointCalls } from '../endpoint/endpoint-calls.ts';
import { senderCalls } from '../relay/sender-calls.ts';

const OF_PAYMENTS = [PreauthorizationService, OctService, RefundService, OperationService];
const SERVICES = [
  ...OF_PAYMENTS,
  MerchantService,
  NotificationService,
  RelayService,
  OperatorService,
  WebhookEndpointService,
];
const METHODS = SERVICES.flatMap((service) => service.methods)
  .filter((method) => rolesFor(method).includes('operator') && changesSomething(method))
  .map(({ name }) => name);
/** A verified notification without its requestId. */
const VERIFIED = {
  merchantId: 'acme',
  kind: NotificationKind.PAYMENT,
  statusInfo: 'captured',
  status: 'KO',
  amount: '10',
  currency: 'EUR',
  body: Buffer.from('{}'),
  signature: `${'A'.repeat(43)}=`,
};
const ALICE: GrpcCall = { metadata: { 'x-operator': 'alice' } };

describe('The audit log', () => {
  const stage = forSuite(openStage);
  const acme = forSuite(() => openMerchant(stage, 'acme'));
  const operator = forSuite(clientsOf);

  before(async () => {
    await operator.merchants.updateMerchant({ ...MERCHANT, contract: { ...contract(), ...ADDRESSES } });
  });

  function clientsOf() {
    const channel = stage.channel('operator');
    return {
      ...channel,
      notifications: channel.opened.client(NotificationService),
      operators: channel.opened.client(OperatorService),
    };
  }
  const entries = async () => (await operator.operators.listAuditEntries({})).entries;
  const lastDetail = async () => JSON.parse((await entries())[0]?.detail || '{}');

  /** How to call each method successfully. */
  const CALLS: Record<string, () => Promise<unknown>> = {
    CreatePreauthorization: () => operator.holds.createPreauthorization(HOLD, ALICE),
    CapturePreauthorization: async () => {
      const { requestId } = await acme.hold();
      return operator.holds.capturePreauthorization({ requestId, amountToCapture: 100n }, ALICE);
    },
    ReleasePreauthorization: async () => {
      const { requestId } = await acme.hold();
      return operator.holds.releasePreauthorization({ requestId }, ALICE);
    },
    PartiallyReleasePreauthorization: async () => {
      const { requestId } = await acme.hold();
      return operator.holds.partiallyReleasePreauthorization({ requestId, amountToRelease: 100n }, ALICE);
    },
    RenewPreauthorization: async () => {
      const { requestId } = await acme.hold();
      return operator.holds.renewPreauthorization({ requestId }, ALICE);
    },
    UpdatePreauthorization: async () => {
      const { requestId } = await acme.hold();
      return operator.holds.updatePreauthorization({ requestId, updateMask: { paths: ['metadata'] } }, ALICE);
    },
    CreateRefund: async () => {
      const { requestId: captureRequestId } = await acme.captured(100n);
      return operator.refunds.createRefund({ captureRequestId }, ALICE);
    },
    IncrementPreauthorization: async () => {
      const { requestId } = await acme.hold();
      return operator.holds.incrementPreauthorization({ requestId, amountToAdd: 100n }, ALICE);
    },
    ExtendPreauthorization: async () => {
      const { requestId } = await acme.hold();
      return operator.holds.extendPreauthorization({ requestId }, ALICE);
    },
    CreateOct: () => operator.octs.createOct(HOLD, ALICE),
    CreateMerchant: () =>
      operator.merchants.createMerchant({ ...MERCHANT, merchantId: 'bolt', contract: contract() }, ALICE),
    UpdateMerchant: () => renamed('Acme of Alice', ALICE),
    SetWebhookUrl: () =>
      operator.merchants.setWebhookUrl({ merchantId: 'acme', webhookUrl: 'https://new.example' }, ALICE),
    CreateApiKey: () => operator.merchants.createApiKey({ merchantId: 'acme' }, ALICE),
    RevokeApiKey: async () => {
      const { apiKey } = await operator.merchants.createApiKey({ merchantId: 'acme' });
      return operator.merchants.revokeApiKey({ merchantId: 'acme', apiKeyId: apiKey?.apiKeyId ?? '' }, ALICE);
    },
    AddSigningSecret: () => operator.merchants.addSigningSecret({ merchantId: 'acme' }, ALICE),
    RetireSigningSecret: async () => {
      const { merchant } = await operator.merchants.getMerchant({ merchantId: 'acme' });
      const signingSecretId = merchant?.signingSecrets[0]?.signingSecretId ?? '';
      return operator.merchants.retireSigningSecret({ merchantId: 'acme', signingSecretId }, ALICE);
    },
    ...senderCalls(() => operator.opened.client(RelayService), 'acme', ALICE),
    ReplayDelivery: async () => {
      await acme.hold();
      const { deliveries } = await operator.notifications.listDeliveries({ merchantId: 'acme' });
      return operator.notifications.replayDelivery({ deliveryId: deliveries[0]?.deliveryId ?? '' }, ALICE);
    },
    SendTestNotification: () => operator.notifications.sendTestNotification({ merchantId: 'acme' }, ALICE),
    ReplayDeliveries: () => operator.notifications.replayDeliveries({ merchantId: 'acme' }, ALICE),
    RecoverDeliveries: () =>
      operator.notifications.recoverDeliveries({ merchantId: 'acme', since: timestampFromDate(new Date(0)) }, ALICE),
    ...endpointCalls(() => operator.opened.client(WebhookEndpointService), 'acme', ALICE),
    PauseEndpoint: () => operator.notifications.pauseEndpoint(ENDPOINT, ALICE),
    ResumeEndpoint: () => operator.notifications.resumeEndpoint(ENDPOINT, ALICE),
    ReleaseQuarantinedNotification: async () => {
      const quarantineId = await setAside();
      return operator.notifications.releaseQuarantinedNotification({ quarantineId }, ALICE);
    },
    DiscardQuarantinedNotification: async () => {
      const quarantineId = await setAside();
      return operator.notifications.discardQuarantinedNotification({ quarantineId }, ALICE);
    },
    DiscardQuarantinedNotifications: async () => {
      await setAside();
      return operator.notifications.discardQuarantinedNotifications({ merchantId: 'acme' }, ALICE);
    },
    ReplayStoredNotification: async () => {
      const relay = stage.client('gateway', NotificationService);
      const requestId = uuidv7();
      await relay.acceptNotification({ ...VERIFIED, requestId });
      return operator.notifications.replayStoredNotification({ merchantId: 'acme', requestId }, ALICE);
    },
    EndSession: () => {
      const expiresAt = timestampFromMs(stage.clock.now());
      return operator.operators.endSession({ sessionHash: randomBytes(32), expiresAt }, ALICE);
    },
    ResolveOperation: async () => {
      const { requestId } = await acme.hold();
      await sql(stage, 'update hold set frozen = true where request_id = $1', [requestId]);
      const resolution = { requestId, reason: 'the processor agrees', unfreezeHold: true };
      return operator.operators.resolveOperation(resolution, ALICE);
    },
    AcknowledgeContradictions: async () => {
      const { requestId: captureRequestId } = await acme.captured(100n);
      const event = { case: 'captureReversed', value: { captureRequestId, amount: 101n, reference: 'r' } } as const;
      const { events } = stage.channel('processor');
      await assert.rejects(events.reportEvent({ eventId: uuidv7(), occurredAt: timestampNow(), event }));
      const acknowledged = { requestId: captureRequestId, reason: 'their mistake' };
      return operator.operators.acknowledgeContradictions(acknowledged, ALICE);
    },
    async CorrectOperation() {
      const { capture } = await acme.capture(await acme.hold(), 100n);
      const correction = { requestId: capture?.requestId ?? '', outcome: OperationState.KO, reason: 'it was not done' };
      return operator.operators.correctOperation(correction, ALICE);
    },
  };

  const renamed = (name: string, call: GrpcCall = {}) =>
    operator.merchants.updateMerchant({ ...MERCHANT, name, contract: { ...contract(), ...ADDRESSES } }, call);

  async function setAside(): Promise<string> {
    const relay = stage.client('gateway', NotificationService);
    const reason = QuarantineReason.STATUS_INFO_CONTRADICTED;
    await relay.quarantineNotification({ ...VERIFIED, requestId: uuidv7(), reason });
    const { notifications } = await operator.notifications.listQuarantinedNotifications({});
    return notifications[0]?.quarantineId ?? '';
  }

  it('has a call for every method with which an operator may change something', () => {
    assert.deepEqual(Object.keys(CALLS).toSorted(), METHODS.toSorted());
  });

  for (const method of METHODS) {
    it(`has an entry of ${method}`, async () => {
      const known = new Set((await entries()).map(({ auditEntryId }) => auditEntryId));
      await CALLS[method]?.();
      const written = (await entries()).filter((entry) => !known.has(entry.auditEntryId));
      const byAlice = written.filter(({ actor }) => actor === 'operator/alice');
      assert.equal(byAlice.length, 1, 'one entry, in the name that the call sent');
      assert.match(byAlice[0]?.action ?? '', /^[a-z-]+\.[a-z-]+$/);
      assert.notEqual(byAlice[0]?.target, '');
      assert.doesNotMatch(JSON.stringify(byAlice[0], bigints), /STARTED|pre_|hf_|whsec_|tok_/);
    });
  }

  it('contains the result of a capture, and its requestId', async () => {
    const { requestId } = await acme.hold();
    const { capture } = await operator.holds.capturePreauthorization({ requestId, amountToCapture: 100n });
    const [entry] = await entries();
    assert.deepEqual([entry?.actor, entry?.action, entry?.target], ['operator', 'preauthorization.capture', requestId]);
    assert.deepEqual(await lastDetail(), { amountToCapture: 100, result: 'OK', requestId: capture?.requestId });
  });

  it('has a refund under the capture that it gives back', async () => {
    const { requestId: captureRequestId } = await acme.captured(100n);
    await operator.refunds.createRefund({ captureRequestId, amount: 40n });
    const [entry] = await entries();
    assert.deepEqual([entry?.action, entry?.target], ['refund.create', captureRequestId]);
  });

  it('contains refusals, too', async () => {
    const { requestId } = await acme.hold({ tokenId: 'tok_sandbox_capture_declined' });
    await refusal(operator.holds.capturePreauthorization({ requestId, amountToCapture: 100n }));
    assert.equal((await lastDetail()).result, 'CARD_DECLINED');
    await refusal(operator.holds.capturePreauthorization({ requestId, amountToCapture: 100_000n }));
    assert.equal((await lastDetail()).result, 'AMOUNT_EXCEEDS_HOLD');
  });

  it('never contains the preauthorizationId of a hold', async () => {
    const { preauthorizationId } = await acme.hold();
    await operator.holds.capturePreauthorization({ preauthorizationId, amountToCapture: 100n });
    assert.doesNotMatch(JSON.stringify(await entries(), bigints), new RegExp(preauthorizationId));
  });

  it('contains no calls of other roles, and none that only read', async () => {
    const before = (await entries()).length;
    await acme.hold();
    await operator.holds.listPreauthorizations({});
    assert.equal((await entries()).length, before);
  });

  for (const name of ['4111111111111111', 'a/b', `a${'b'.repeat(64)}`, '-']) {
    it(`rejects an invalid operator name: ${name}`, async () => {
      const call = { metadata: { 'x-operator': name } };
      const refused = await refusal(operator.merchants.createApiKey({ merchantId: 'acme' }, call));
      assert.equal(refused.reason, 'INVALID_REQUEST');
    });
  }

  it('rejects a card number or NUL', async () => {
    for (const reason of ['4111 1111 1111 1111', 'a\0b']) {
      const call = operator.operators.resolveOperation({ requestId: uuidv7(), reason, unfreezeHold: true });
      assert.equal(await why(call), 'INVALID_REQUEST');
    }
  });

  it('is listed page by page, by target and by action', async () => {
    const all = await entries();
    const first = await operator.operators.listAuditEntries({ pageSize: 2 });
    const second = await operator.operators.listAuditEntries({ pageSize: 2, pageToken: first.nextPageToken });
    assert.deepEqual([...first.entries, ...second.entries], all.slice(0, 4));
    const of = await operator.operators.listAuditEntries({ target: 'bolt', action: 'merchant.create' });
    assert.deepEqual(
      of.entries.map(({ action, target }) => [action, target]),
      [['merchant.create', 'bolt']],
    );
  });

  it('is listed by actor', async () => {
    await renamed('Acme of Bob', { metadata: { 'x-operator': 'bob' } });
    const { entries: ofBob } = await operator.operators.listAuditEntries({ actor: 'operator/bob' });
    assert.deepEqual(
      ofBob.map(({ actor, action }) => [actor, action]),
      [['operator/bob', 'merchant.update']],
    );
    assert.deepEqual((await operator.operators.listAuditEntries({ actor: 'operator/bo' })).entries, []);
  });

  it('has no entry of what changes nothing', async () => {
    const { apiKey } = await operator.merchants.createApiKey({ merchantId: 'acme' });
    const revoke = () => operator.merchants.revokeApiKey({ merchantId: 'acme', apiKeyId: apiKey?.apiKeyId ?? '' });
    const { merchant } = await operator.merchants.getMerchant({ merchantId: 'acme' });
    const live = merchant?.signingSecrets.filter(({ retiredAt }) => !retiredAt) ?? [];
    if (live.length < 2) await operator.merchants.addSigningSecret({ merchantId: 'acme' });
    const signingSecretId = live[0]?.signingSecretId ?? '';
    const repeated: Record<string, () => Promise<unknown>> = {
      revokeApiKey: revoke,
      retireSigningSecret: () => operator.merchants.retireSigningSecret({ merchantId: 'acme', signingSecretId }),
      setWebhookUrl: () =>
        operator.merchants.setWebhookUrl({ merchantId: 'acme', webhookUrl: 'https://again.example' }),
      updateMerchant: () => renamed('Acme again'),
      pauseEndpoint: () => operator.notifications.pauseEndpoint(ENDPOINT),
      resumeEndpoint: () => operator.notifications.resumeEndpoint(ENDPOINT),
    };
    for (const [name, call] of Object.entries(repeated)) {
      const before = (await entries())[0]?.auditEntryId;
      await call();
      const once = (await entries())[0]?.auditEntryId;
      assert.notEqual(once, before, `${name} is audited`);
      await call();
      assert.equal((await entries())[0]?.auditEntryId, once, `${name} once more is not`);
    }
  });

  it('is listed between two times, the first included and the last not', async () => {
    const fromMs = Date.now();
    const written: string[] = [];
    for (let count = 0; count < 3; count++) {
      await renamed(`Acme ${count}`);
      const [entry] = await entries();
      written.push(entry?.auditEntryId ?? '');
      const at = new Date(fromMs + count * 1_000);
      await sql(stage, 'update audit_entry set at = $1 where id = $2', [at, entry?.auditEntryId]);
    }
    const between = async (from: number, to: number) => {
      const bounds = { atFrom: timestampFromMs(fromMs + from), atTo: timestampFromMs(fromMs + to) };
      const found = await operator.operators.listAuditEntries({ target: 'acme', ...bounds });
      return found.entries.map(({ auditEntryId }) => written.indexOf(auditEntryId));
    };
    assert.deepEqual(await between(0, 2_000), [1, 0]);
    assert.deepEqual(await between(1, 2_001), [2, 1]);
    assert.deepEqual(await between(2_001, 9_000), []);
  });

  it('is for operators only', async () => {
    for (const role of ['gateway', 'internal', 'processor'] as const) {
      const other = stage.channel(role).opened.client(OperatorService);
      assert.equal(await why(other.listAuditEntries({})), 'FORBIDDEN');
      assert.equal(await why(other.checkOperator({})), 'FORBIDDEN');
    }
    await operator.operators.checkOperator({});
  });
});

const bigints = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
const ADDRESSES = { webhookUrl: 'https://merchant.example', internalUrl: 'https://inner.example' };
const MERCHANT = { merchantId: 'acme', name: 'Acme' };
const ENDPOINT = { merchantId: 'acme', endpointKind: EndpointKind.WEBHOOK };
const HOLD = {
  merchantId: 'acme',
  tokenId: 'tok_sandbox_ok',
  amount: 500n,
  currency: 'EUR',
  terminalId: 'T1',
  userId: 'u1',
};
