/** How merchants manage their webhooks through the gateway: with a key that may, for themselves only, and audited. */
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import type { GrpcCall } from '../../../../../platform/grpc-client.ts';
import { MerchantService } from '../../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { NotificationService } from '../../../../../proto/gen/holdfast/v1/notification_pb.js';
import { OperatorService } from '../../../../../proto/gen/holdfast/v1/operator_pb.js';
import { RelayService } from '../../../../../proto/gen/holdfast/v1/relay_pb.js';
import { WebhookEndpointService } from '../../../../../proto/gen/holdfast/v1/webhook_endpoint_pb.js';
import { rolesFor } from '../../../../../services/core/rpc/server/access.ts';
import { forSuite } from '../../../../suite.ts';
import { openMerchant } from '../../shop.ts';
import { openStage, refusal, type Stage, why } from '../../stage.ts';
import { SENDER } from '../relay/sender-calls.ts';

/** GetContract is for any key of a merchant, so it is not one of them. */
const METHODS = [MerchantService, NotificationService, RelayService, WebhookEndpointService]
  .flatMap(({ methods }) => methods)
  .filter((method) => rolesFor(method).includes('gateway') && rolesFor(method).includes('operator'))
  .filter(({ name }) => name !== 'GetContract')
  .map(({ localName }) => localName);

describe('demandsManagingKey()', () => {
  const stage = forSuite(openStage);
  const operator = forSuite(() => stage.channel('operator'));
  const gateway = forSuite(() => stage.channel('gateway'));
  const mine = forSuite(() => opened('mine'));
  const theirs = forSuite(() => opened('theirs'));

  /** Creates a merchant with a delivery and a second signing secret. */
  async function opened(merchantId: string) {
    await openMerchant(stage, merchantId, { webhookUrl: 'https://merchant.example' });
    const { delivery } = await notifications(operator).sendTestNotification({ merchantId });
    const { signingSecret } = await operator.merchants.addSigningSecret({ merchantId });
    const url = 'https://books.example';
    const { endpoint } = await endpoints(operator).createWebhookEndpoint({ merchantId, url });
    const { sender } = await senders(operator).createRelaySender({ merchantId, ...SENDER });
    return {
      deliveryId: delivery?.deliveryId ?? '',
      signingSecretId: signingSecret?.signingSecretId ?? '',
      endpointId: endpoint?.endpointId ?? '',
      senderId: sender?.senderId ?? '',
    };
  }
  const endpoints = ({ opened: channel }: ReturnType<Stage['channel']>) => channel.client(WebhookEndpointService);
  const senders = ({ opened: channel }: ReturnType<Stage['channel']>) => channel.client(RelayService);
  const notifications = ({ opened: channel }: ReturnType<Stage['channel']>) => channel.client(NotificationService);
  const asKey = (key: string): GrpcCall => ({
    metadata: { 'x-api-key-sha256': createHash('sha256').update(key).digest('base64') },
  });
  const newKey = async (merchantId: string, managesWebhook: boolean) => {
    const { apiKey, key } = await operator.merchants.createApiKey({ merchantId, managesWebhook });
    return { apiKeyId: apiKey?.apiKeyId ?? '', call: asKey(key) };
  };
  const audited = async () =>
    (await operator.opened.client(OperatorService).listAuditEntries({})).entries.map(({ actor, action, target }) =>
      [actor, action, target].join(' '),
    );

  /** Each of the calls, about the merchant's own records. */
  const calls = (
    call: GrpcCall,
    merchantId: string,
    { deliveryId, signingSecretId, endpointId, senderId }: typeof theirs,
  ) => ({
    getMerchant: () => gateway.merchants.getMerchant({ merchantId }, call),
    setWebhookUrl: () => gateway.merchants.setWebhookUrl({ merchantId, webhookUrl: 'https://new.example' }, call),
    listDeliveries: () => notifications(gateway).listDeliveries({ merchantId }, call),
    getDelivery: () => notifications(gateway).getDelivery({ merchantId, deliveryId }, call),
    replayDelivery: () => notifications(gateway).replayDelivery({ merchantId, deliveryId }, call),
    recoverDeliveries: () => notifications(gateway).recoverDeliveries({ merchantId, since: { seconds: 0n } }, call),
    sendTestNotification: () => notifications(gateway).sendTestNotification({ merchantId }, call),
    listEndpoints: () => notifications(gateway).listEndpoints({ merchantId }, call),
    retireSigningSecret: () => gateway.merchants.retireSigningSecret({ merchantId, signingSecretId }, call),
    addSigningSecret: () => gateway.merchants.addSigningSecret({ merchantId }, call),
    listWebhookEndpoints: () => endpoints(gateway).listWebhookEndpoints({ merchantId }, call),
    getWebhookEndpoint: () => endpoints(gateway).getWebhookEndpoint({ merchantId, endpointId }, call),
    createWebhookEndpoint: () => {
      return endpoints(gateway).createWebhookEndpoint({ merchantId, url: 'https://shop.example' }, call);
    },
    updateWebhookEndpoint: () => {
      return endpoints(gateway).updateWebhookEndpoint({ merchantId, endpointId, timeoutSeconds: 20 }, call);
    },
    deleteWebhookEndpoint: () => endpoints(gateway).deleteWebhookEndpoint({ merchantId, endpointId }, call),
    listRelaySenders: () => senders(gateway).listRelaySenders({ merchantId }, call),
    listRelayFailures: () => senders(gateway).listRelayFailures({ merchantId }, call),
    getRelaySender: () => senders(gateway).getRelaySender({ merchantId, senderId }, call),
    createRelaySender: () => senders(gateway).createRelaySender({ merchantId, ...SENDER }, call),
    updateRelaySender: () =>
      senders(gateway).updateRelaySender({ merchantId, senderId, settings: { ...SENDER.settings, name: 'b' } }, call),
    deleteRelaySender: () => senders(gateway).deleteRelaySender({ merchantId, senderId }, call),
  });

  it('leaves internal endpoints to operators', async () => {
    const merchantId = 'mine';
    const { call } = await newKey(merchantId, true);
    const internal = { merchantId, url: 'https://ledger.example', purpose: 'internal' };
    assert.equal(await why(endpoints(gateway).createWebhookEndpoint(internal, call)), 'FORBIDDEN');
    const { endpoint } = await endpoints(operator).createWebhookEndpoint(internal);
    const named = { merchantId, endpointId: endpoint?.endpointId ?? '' };
    assert.equal((await endpoints(gateway).getWebhookEndpoint(named, call)).endpoint?.purpose, 'internal');
    const url = 'https://elsewhere.example';
    assert.equal(await why(endpoints(gateway).updateWebhookEndpoint({ ...named, url }, call)), 'FORBIDDEN');
    assert.equal(await why(endpoints(gateway).deleteWebhookEndpoint(named, call)), 'FORBIDDEN');
  });

  it('covers every method that is for the gateway and for operators', () => {
    assert.deepEqual(Object.keys(calls({}, '', mine)).toSorted(), METHODS.toSorted());
  });

  it('allows a key that manages the webhook everything, and audits the changes in its name', async () => {
    const before = (await audited()).length;
    const { apiKeyId, call } = await newKey('mine', true);
    for (const each of Object.values(calls(call, 'mine', mine))) await each();
    const actor = `api-key/${apiKeyId}`;
    const made = await audited();
    assert.deepEqual(made.slice(0, made.length - before - 1).toReversed(), [
      `${actor} merchant.update mine`,
      `${actor} delivery.replay ${mine.deliveryId}`,
      `${actor} delivery.recover mine`,
      `${actor} delivery.test mine`,
      `${actor} signing-secret.retire mine`,
      `${actor} signing-secret.add mine`,
      ...['create', 'update', 'delete'].map((act) => `${actor} webhook-endpoint.${act} mine`),
      `${actor} relay-sender.create mine`,
      `${actor} relay-sender.update mine`,
      `${actor} relay-sender.delete mine`,
    ]);
  });

  it('rejects a key without the permission, a revoked one, an unknown one, and none; nothing changes', async () => {
    const { call: plain } = await newKey('mine', false);
    const { apiKeyId, call: revoked } = await newKey('mine', true);
    await operator.merchants.revokeApiKey({ merchantId: 'mine', apiKeyId });
    const before = await audited();
    for (const [call, reason] of [
      [plain, 'FORBIDDEN'],
      [revoked, 'UNAUTHENTICATED'],
      [asKey('hf_never'), 'UNAUTHENTICATED'],
      [{ metadata: { 'x-api-key-sha256': 'not base64' } }, 'UNAUTHENTICATED'],
      [{}, 'FORBIDDEN'],
    ] as const) {
      for (const [name, each] of Object.entries(calls(call, 'mine', mine))) {
        assert.equal(await why(each()), reason, name);
      }
    }
    assert.deepEqual(await audited(), before);
  });

  it('rejects a key of another merchant', async () => {
    const { call } = await newKey('theirs', true);
    for (const [name, each] of Object.entries(calls(call, 'mine', mine))) {
      assert.equal(await why(each()), 'FORBIDDEN', name);
    }
    assert.equal(await why(notifications(gateway).listDeliveries({}, call)), 'FORBIDDEN');
    assert.equal(await why(notifications(gateway).getDelivery({ deliveryId: theirs.deliveryId }, call)), 'FORBIDDEN');
  });

  it("answers for another merchant's delivery or secret as for an unknown one", async () => {
    const { call } = await newKey('mine', true);
    const before = await audited();
    const foreign = calls(call, 'mine', theirs);
    const unknown = calls(call, 'mine', {
      deliveryId: randomUUID(),
      signingSecretId: randomUUID(),
      endpointId: `webhook-${randomUUID()}`,
      senderId: randomUUID(),
    });
    const named = ['getDelivery', 'replayDelivery', 'retireSigningSecret'] as const;
    const ofEndpoint = ['getWebhookEndpoint', 'updateWebhookEndpoint', 'deleteWebhookEndpoint'] as const;
    const ofSender = ['getRelaySender', 'updateRelaySender', 'deleteRelaySender'] as const;
    for (const name of [...named, ...ofEndpoint, ...ofSender]) {
      const refused = await refusal(foreign[name]());
      assert.equal(refused.reason, 'OPERATION_NOT_FOUND', name);
      assert.deepEqual(refused, await refusal(unknown[name]()), name);
    }
    assert.deepEqual(await audited(), before);
    const { deliveries } = await notifications(gateway).listDeliveries({ merchantId: 'mine' }, call);
    assert(deliveries.length > 0 && deliveries.every(({ merchantId }) => merchantId === 'mine'));
  });
});
