import { ID, KEPT_UNTIL, lost, MERCHANT_ID, ORDER, type Request, request, WEBHOOK_URL } from './example.ts';

const BASKET = { basket: 'b-17' };

/** docs/relay.md, "Presets". */
const SETTINGS = {
  name: 'GitHub',
  header: 'X-Hub-Signature-256',
  encoding: 'hex',
  prefix: 'sha256=',
  idHeader: 'X-GitHub-Delivery',
  typeHeader: 'X-GitHub-Event',
};
const GITHUB = { ...SETTINGS, scheme: 'hmac-sha256-body' };

/**
 * Requests of merchants: a hold captured in two parts, a cancelled checkout, a hold that waits for its customer, a
 * released hold, a request without an answer, a payout, the results of all these, a notification of another sender, and
 * the care of a webhook, and another sender.
 */
export const MERCHANTS: readonly Request[] = [
  request('createPreauthorization', 'withToken', 'A hold on a known card', {
    parameters: { 'Idempotency-Key': 'order-1001-hold' },
    body: {
      tokenId: 'tok_sandbox_ok',
      amount: 4200,
      ...ORDER,
      merchantReference: 'order-1001',
      description: 'Two bicycles, in two parcels',
      metadata: BASKET,
    },
  }),
  request('createPreauthorization', 'withCheckout', 'The customer enters a card', {
    body: { amount: 9900, ...ORDER, returnUrl: 'https://shop.example/done', saveCard: true },
  }),
  request('createPreauthorization', 'stepUp', 'The issuer asks the customer for authentication', {
    body: {
      tokenId: 'tok_sandbox_challenge',
      amount: 6400,
      ...ORDER,
      merchantReference: 'order-1007',
      customerPresent: true,
      returnUrl: 'https://shop.example/done',
    },
  }),
  request('createPreauthorization', 'noShow', 'The guest did not come', {
    body: {
      tokenId: 'tok_sandbox_ok',
      amount: 8000,
      ...ORDER,
      merchantReference: 'room-17',
      customerPresent: false,
      merchantInitiated: { reason: 'no_show' },
    },
  }),
  request('createPreauthorization', 'kept', 'A car is rented for a month', {
    body: {
      tokenId: 'tok_sandbox_ok',
      amount: 80000,
      ...ORDER,
      merchantReference: 'car-4',
      keepUntil: KEPT_UNTIL,
    },
  }),
  request('getPreauthorization', 'kept', 'A hold that renews itself, with its authorizations', {
    parameters: { requestId: ID.keptHold },
  }),
  request('updatePreauthorization', 'notKept', 'The car came back early: the hold is kept no longer', {
    parameters: { requestId: ID.keptHold },
    body: { keepUntil: null },
  }),
  lost('createPreauthorization', { body: { tokenId: 'tok_sandbox_timeout_applied', amount: 100, ...ORDER } }),
  request('createPreauthorization', 'silentCaptures', 'A sandbox token whose captures are not answered', {
    body: {
      tokenId: 'tok_sandbox_capture_timeout_applied',
      amount: 5000,
      ...ORDER,
      merchantReference: 'order-1003',
      metadata: BASKET,
    },
  }),
  request('capturePreauthorization', 'partial', 'A part of the hold', {
    parameters: { 'Idempotency-Key': 'order-1001-parcel-1' },
    body: {
      preauthorizationId: ID.holdHandle,
      amountToCapture: 1500,
      currency: 'EUR',
      merchantReference: 'parcel-1',
      metadata: { carrier: 'dhl' },
      reason: 'The first parcel has left',
    },
  }),
  request('capturePreauthorization', 'final', 'The last part; the rest is given back', {
    body: { preauthorizationId: ID.holdHandle, amountToCapture: 2000, finalCapture: true },
  }),
  lost('capturePreauthorization', { body: { preauthorizationId: ID.silentHandle, amountToCapture: 1500 } }),
  request('getPreauthorization', 'captured', 'A hold captured in two parts', { parameters: { requestId: ID.hold } }),
  request('updatePreauthorization', 'renamed', 'Another reference, and no description any more', {
    parameters: { requestId: ID.hold },
    body: { merchantReference: 'order-1001-b', description: null },
  }),
  request('createRefund', 'partial', 'A part of a capture', {
    parameters: { 'Idempotency-Key': 'order-1001-return-1' },
    body: { captureRequestId: ID.capture, amount: 500, reason: 'One item came back' },
  }),
  request('createPreauthorization', 'silentRefunds', 'A sandbox token whose refunds are not answered', {
    body: { tokenId: 'tok_sandbox_refund_timeout_applied', amount: 800, ...ORDER },
  }),
  request('capturePreauthorization', 'whole', 'All of the hold', {
    body: { preauthorizationId: ID.refundsHandle, amountToCapture: 800 },
  }),
  lost('createRefund', { body: { captureRequestId: ID.wholeCapture, amount: 300 } }),
  request('getRefund', 'refunded', 'Done', { parameters: { requestId: ID.refund } }),
  request('renewPreauthorization', 'rest', 'What remained of a hold, held again', { body: { requestId: ID.hold } }),
  lost('renewPreauthorization', { body: { preauthorizationId: ID.silentHandle } }),
  request('releasePreauthorization', 'cancelCheckout', 'The customer did not come', {
    body: { requestId: ID.checkout },
  }),
  request('createPreauthorization', 'withoutReference', 'A hold that will be given back', {
    body: { tokenId: 'tok_sandbox_ok', amount: 3000, ...ORDER },
  }),
  request('incrementPreauthorization', 'more', 'The customer stays for another night', {
    parameters: { 'Idempotency-Key': 'stay-17-night-2' },
    body: { preauthorizationId: ID.otherHandle, amountToAdd: 1200, currency: 'EUR', reason: 'Another night' },
  }),
  lost('incrementPreauthorization', { body: { preauthorizationId: ID.silentHandle, amountToAdd: 1200 } }),
  request('extendPreauthorization', 'longer', 'The customer stays for longer', {
    body: { preauthorizationId: ID.otherHandle },
  }),
  lost('extendPreauthorization', { body: { preauthorizationId: ID.silentHandle } }),
  request('releasePreauthorization', 'part', 'One of two rooms is not needed', {
    body: { preauthorizationId: ID.otherHandle, amountToRelease: 1200, currency: 'EUR' },
  }),
  request('releasePreauthorization', 'release', 'The order was cancelled', {
    body: { preauthorizationId: ID.otherHandle, reason: 'The guest left early' },
  }),
  lost('releasePreauthorization', { body: { preauthorizationId: ID.silentHandle } }),
  request('listPreauthorizations', 'released', "The newest of a customer's released holds", {
    parameters: { userId: ORDER.userId, status: 'RELEASED', pageSize: 1 },
  }),
  request('listPreauthorizations', 'byReference', 'What became of an order', {
    parameters: { merchantReference: 'order-1001-b', cardLast4: '4242', amountFrom: 4200, amountTo: 4200 },
  }),
  request('getContract', 'own', 'Which currencies and terminals may be used'),
  request('createOct', 'payout', 'A payment to a card', {
    parameters: { 'Idempotency-Key': 'payout-7' },
    body: { tokenId: 'tok_sandbox_ok', amount: 2500, ...ORDER, merchantReference: 'payout-7', reason: 'Winnings' },
  }),
  lost('createOct', { body: { tokenId: 'tok_sandbox_timeout_applied', amount: 2500, ...ORDER } }),
  request('getOct', 'paid', 'Paid', { parameters: { requestId: ID.oct } }),
  request('listOperations', 'captures', 'The captures of a hold', {
    parameters: { holdRequestId: ID.hold, operation: 'CAPTURE' },
  }),
  request('listOperations', 'asCsv', 'The same for a spreadsheet', {
    parameters: { Accept: 'text/csv', holdRequestId: ID.hold, operation: 'CAPTURE' },
  }),
  request('watchOperations', 'resumed', 'What was missed since an event, then what happens', {
    parameters: { 'Last-Event-ID': 'bzI6MDo' },
  }),
  request('getOperation', 'cancelled', 'A hold whose checkout was cancelled', {
    parameters: { requestId: ID.checkout },
  }),
  request('relayNotification', 'captured', 'A capture of another system, signed with the secret whsec_example', {
    parameters: {
      kind: 'payment',
      statusInfo: 'captured',
      'X-Service-Signature': 'kGGZ+41BJ4y+YVw6GagneMowgj8AonPwrk/eKHjMAis=',
    },
    body: { merchantId: MERCHANT_ID, requestId: 'order-7', status: 'OK', amount: 1050, currency: 'EUR' },
  }),
  request('relayNotification', 'conflict', 'Another amount under the same requestId, just as genuine', {
    parameters: {
      kind: 'payment',
      statusInfo: 'captured',
      'X-Service-Signature': 'eHr+4YSpIuioGDTMXsdP3+mp9hud7+34GOd29dNcDEA=',
    },
    body: { merchantId: MERCHANT_ID, requestId: 'order-7', status: 'OK', amount: 1051, currency: 'EUR' },
    status: 202,
  }),
  request('getHealth', 'ok', 'It runs'),
  request('getReadiness', 'ready', 'It can serve'),
  request('setWebhookEndpoint', 'moved', 'The receiver has an address', { body: { webhookUrl: WEBHOOK_URL } }),
  request('sendTestNotification', 'first', 'Does the receiver take what it is sent?', { body: {} }),
  request('listOwnDeliveries', 'ofCapture', 'The notification of a capture', {
    parameters: { requestId: ID.finalCapture, endpointKind: 'WEBHOOK', createdFrom: '2026-11-21T00:00:00.000Z' },
  }),
  request('getOwnDelivery', 'delivered', 'Taken at the first attempt', { parameters: { deliveryId: ID.ownDelivery } }),
  request('replayOwnDelivery', 'again', 'The receiver has lost it', {
    parameters: { deliveryId: ID.ownDelivery },
    body: {},
  }),
  request('recoverOwnDeliveries', 'outage', 'The receiver was away for two hours', {
    body: { since: '2026-11-21T06:00:00.000Z', until: '2026-11-21T08:00:00.000Z' },
  }),
  request('addOwnSigningSecret', 'second', 'A second secret, to change over to', { body: {} }),
  request('createWebhookEndpoint', 'accounting', 'Captures and refunds also go to accounting', {
    body: {
      url: 'https://books.example/hooks',
      types: ['payment.captured', 'payment.refunded', 'oct.*'],
      description: 'Accounting',
      headers: { authorization: 'Bearer 4f9d' },
      timeoutSeconds: 20,
    },
  }),
  request('listWebhookEndpoints', 'both', 'All endpoints, and how they fare'),
  request('updateWebhookEndpoint', 'all', 'Everything from now on', {
    parameters: { endpointId: ID.endpoint },
    body: { types: null },
  }),
  request('testWebhookEndpoint', 'accounting', 'Does accounting take what it is sent?', {
    parameters: { endpointId: ID.endpoint },
    body: {},
  }),
  request('addEndpointSecret', 'second', 'A second secret of this endpoint', {
    parameters: { endpointId: ID.endpoint },
    body: {},
  }),
  request('retireEndpointSecret', 'second', 'It was not needed', {
    parameters: { endpointId: ID.endpoint, signingSecretId: ID.endpointSecret },
  }),
  request('getFurtherEndpoint', 'accounting', 'One endpoint', { parameters: { endpointId: ID.endpoint } }),
  request('deleteWebhookEndpoint', 'accounting', 'Accounting needs it no longer', {
    parameters: { endpointId: ID.endpoint },
  }),
  request('watchNotifications', 'resumed', 'What was missed since an event, then what happens', {
    parameters: { 'Last-Event-ID': 'bzI6MDo' },
  }),
  request('getWebhookEndpoint', 'changingOver', 'Between the old secret and the new'),
  request('retireOwnSigningSecret', 'second', 'The new one was not needed after all', {
    parameters: { signingSecretId: ID.ownSecret },
  }),
  request('createRelaySender', 'gitHub', 'Releases of the shop, as GitHub reports them', {
    body: { ...GITHUB, secrets: ["It's a Secret to Everybody"] },
  }),
  request('relaySenderNotification', 'release', 'What GitHub sends, under the secret of the sender', {
    parameters: {
      senderId: ID.sender,
      'X-GitHub-Delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      'X-GitHub-Event': 'release',
      'X-Hub-Signature-256': 'sha256=404d2989a56132ff928ee7ab5f225b1f4ed4f51d16318bd576d714cc78c98f65',
    },
    body: { action: 'published', release: { tag_name: 'v1.4.0' } },
  }),
  request('relaySenderNotification', 'conflict', 'Another body under the same identifier, just as genuine', {
    parameters: {
      senderId: ID.sender,
      'X-GitHub-Delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      'X-GitHub-Event': 'release',
      'X-Hub-Signature-256': 'sha256=8f5572c8d6ac85fabf5a07dceba90e3cf58d6f304888b8814bae500ddc44d943',
    },
    body: { action: 'edited', release: { tag_name: 'v1.4.0' } },
    status: 202,
  }),
  request('listRelaySenders', 'all', 'There is one'),
  request('getRelaySender', 'gitHub', 'One of them', { parameters: { senderId: ID.sender } }),
  request('updateRelaySender', 'changingOver', 'The old secret and the new one, until GitHub has it', {
    parameters: { senderId: ID.sender },
    body: { ...SETTINGS, secrets: ["It's a Secret to Everybody", 'It is a better kept secret'] },
  }),
  request('listRelayFailures', 'gitHub', 'GitHub signs a line break that it does not send', {
    parameters: { senderId: ID.sender, reason: 'WRONG_SIGNATURE' },
  }),
  request('watchRelayedNotifications', 'resumed', 'What GitHub has sent since an event, then what it sends', {
    parameters: { senderId: ID.sender, 'Last-Event-ID': 'cjI6MDo' },
  }),
  request('deleteRelaySender', 'gitHub', 'The shop builds its releases elsewhere', {
    parameters: { senderId: ID.sender },
  }),
];
