import { ID, lost, MERCHANT_ID, NEW_MERCHANT_ID, ORDER, type Request, request } from './example.ts';

const GLOBEX = {
  allowMultipleCaptures: true,
  holdPeriodSeconds: 604800,
  currencies: ['EUR', 'USD'],
  terminals: ['web'],
  notifyHolds: true,
  requireSignedCaptures: false,
  internalUrl: 'https://payments.globex.example',
};

/**
 * Requests of operators: about a hold that its merchant asked about, the state of the service, a new merchant, and its
 * notifications.
 */
export const OPERATORS: readonly Request[] = [
  request('createPreauthorization', 'forSupport', 'A hold that an operator will capture', {
    body: { tokenId: 'tok_sandbox_ok', amount: 8000, ...ORDER, merchantReference: 'order-1002' },
  }),
  request('captureHold', 'partial', 'What the merchant could not capture itself', {
    parameters: { requestId: ID.supportHold, 'Idempotency-Key': 'ticket-501-capture' },
    body: { amountToCapture: 6000 },
  }),
  lost('captureHold', { parameters: { requestId: ID.silentHold }, body: { amountToCapture: 500 } }),
  request('refundCapture', 'partial', 'A part of it', {
    parameters: { requestId: ID.supportCapture, 'Idempotency-Key': 'ticket-501-refund' },
    body: { amount: 500 },
  }),
  request('refundCapture', 'unknown', "All that is left; the processor's answer was lost", {
    parameters: { requestId: ID.wholeCapture },
    body: {},
    status: 202,
  }),
  request('incrementHold', 'more', 'What the merchant could not add itself', {
    parameters: { requestId: ID.supportHold, 'Idempotency-Key': 'ticket-501-increment' },
    body: { amountToAdd: 1000 },
  }),
  lost('incrementHold', { parameters: { requestId: ID.silentHold }, body: { amountToAdd: 1000 } }),
  request('extendHold', 'longer', 'Until the merchant can capture it', {
    parameters: { requestId: ID.supportHold },
    body: {},
  }),
  lost('extendHold', { parameters: { requestId: ID.silentHold }, body: {} }),
  request('releaseHold', 'rest', 'What is left', { parameters: { requestId: ID.supportHold }, body: {} }),
  lost('releaseHold', { parameters: { requestId: ID.silentHold }, body: {} }),
  request('listHolds', 'byReference', "By the merchant's own reference", {
    parameters: { merchantId: MERCHANT_ID, merchantReference: 'order-1002' },
  }),
  request('getHold', 'story', 'Its whole story', { parameters: { requestId: ID.supportHold } }),
  request('signIn', 'signIn', 'Alice signs in', { body: { token: 'the-operator-token', operator: 'alice' } }),
  request('getSession', 'session', 'By the cookie'),
  request('signOut', 'signOut', 'Alice signs out'),
  request('search', 'byId', 'A capture by its requestId', { body: { text: ID.capture } }),
  request('getOverview', 'counts', 'A hold is frozen, and a notification waits in quarantine'),
  request('listMinutes', 'lastTwo', 'The minute before, and the present one', { parameters: { minutes: 2 } }),
  request('listOperatorOperations', 'ofMerchant', "The captures of a merchant's hold", {
    parameters: { merchantId: MERCHANT_ID, holdRequestId: ID.hold, operation: 'CAPTURE' },
  }),
  request('watchOperatorOperations', 'resumed', 'Of one merchant, since an event', {
    parameters: { merchantId: MERCHANT_ID, 'Last-Event-ID': 'bzI6MDo' },
  }),
  request('getOperatorOperation', 'capture', 'A capture', { parameters: { requestId: ID.capture } }),
  request('getOperatorOct', 'paid', 'A payout', { parameters: { requestId: ID.oct } }),
  request('listReviews', 'frozen', 'The processor took back that it had approved a hold', {
    parameters: { merchantId: MERCHANT_ID, reason: 'FROZEN' },
  }),
  request('resolveReview', 'unfreeze', 'The hold stands after all', {
    parameters: { requestId: ID.silentHold },
    body: { reason: 'Ticket 502: the processor confirms the hold by phone', unfreezeHold: true },
  }),
  request('listContradictions', 'ofHold', 'What the processor said of the hold, and how it was resolved', {
    parameters: { requestId: ID.silentHold },
  }),
  request('acknowledgeReview', 'tooMuch', 'The card scheme is said to have taken back more than a capture', {
    parameters: { requestId: ID.supportCapture },
    body: { reason: 'Ticket 503: the report was a mistake of theirs' },
  }),
  request('correctReview', 'notRefunded', 'The bank has never got a refund that was told as done', {
    parameters: { requestId: ID.refund },
    body: { outcome: 'KO', reason: 'Ticket 504: the processor has no such refund in its books' },
  }),
  request('listAudit', 'ofHold', 'Who captured and released a hold', {
    parameters: { target: ID.supportHold, action: 'preauthorization.capture' },
  }),
  request('watchAudit', 'fromTheFirst', 'From the first entry on', {
    parameters: { 'Last-Event-ID': `0:${'0'.repeat(32)}` },
  }),
  request('createMerchant', 'globex', 'A merchant whose other systems send signed notifications through the relay', {
    body: { merchantId: NEW_MERCHANT_ID, name: 'Globex', contract: GLOBEX },
  }),
  request('listMerchants', 'all', 'All of them', { parameters: { pageSize: 200 } }),
  request('updateMerchant', 'contract', 'One currency less, and another name', {
    parameters: { merchantId: NEW_MERCHANT_ID },
    body: { name: 'Globex Payments', contract: { ...GLOBEX, currencies: ['EUR'] } },
  }),
  request('createApiKey', 'second', 'A second key, with which the merchant manages its webhook itself', {
    parameters: { merchantId: NEW_MERCHANT_ID },
    body: { managesWebhook: true },
  }),
  request('addSigningSecret', 'second', 'A second secret, to change over to', {
    parameters: { merchantId: NEW_MERCHANT_ID },
    body: {},
  }),
  request('getMerchant', 'changingOver', 'Between the old credentials and the new', {
    parameters: { merchantId: NEW_MERCHANT_ID },
  }),
  request('revokeApiKey', 'first', 'The first key', {
    parameters: { merchantId: NEW_MERCHANT_ID, apiKeyId: ID.apiKey },
  }),
  request('retireSigningSecret', 'first', 'The first secret', {
    parameters: { merchantId: NEW_MERCHANT_ID, signingSecretId: ID.secret },
  }),
  request('createMerchantEndpoint', 'internal', 'What the relay verified also goes to the ledger, with its token', {
    parameters: { merchantId: NEW_MERCHANT_ID },
    body: {
      url: 'https://ledger.example/in',
      purpose: 'internal',
      types: ['payment.*'],
      headers: { authorization: 'Bearer 7c1e' },
    },
  }),
  request('listMerchantEndpoints', 'both', 'All endpoints of a merchant', {
    parameters: { merchantId: NEW_MERCHANT_ID },
  }),
  request('updateMerchantEndpoint', 'patient', 'The ledger may take its time', {
    parameters: { merchantId: NEW_MERCHANT_ID, endpointId: ID.internalEndpoint },
    body: { timeoutSeconds: 30 },
  }),
  request('getMerchantEndpoint', 'ledger', 'One endpoint', {
    parameters: { merchantId: NEW_MERCHANT_ID, endpointId: ID.internalEndpoint },
  }),
  request('addMerchantEndpointSecret', 'second', 'A second secret of this endpoint', {
    parameters: { merchantId: NEW_MERCHANT_ID, endpointId: ID.internalEndpoint },
    body: {},
  }),
  request('retireMerchantEndpointSecret', 'second', 'It was not needed', {
    parameters: {
      merchantId: NEW_MERCHANT_ID,
      endpointId: ID.internalEndpoint,
      signingSecretId: ID.internalSecret,
    },
  }),
  request('deleteMerchantEndpoint', 'ledger', 'The ledger needs it no longer', {
    parameters: { merchantId: NEW_MERCHANT_ID, endpointId: ID.internalEndpoint },
  }),
  request('listDeliveries', 'ofCapture', 'The notification of a capture', {
    parameters: { merchantId: MERCHANT_ID, requestId: ID.capture, endpointKind: 'WEBHOOK' },
  }),
  request('getDelivery', 'delivered', 'Taken at the first attempt', { parameters: { deliveryId: ID.delivery } }),
  request('replayDelivery', 'again', 'The merchant has lost it', { parameters: { deliveryId: ID.delivery }, body: {} }),
  request('replayDeliveries', 'dead', 'What was given up in a night', {
    body: {
      merchantId: NEW_MERCHANT_ID,
      endpointKind: 'INTERNAL',
      state: 'DEAD',
      createdFrom: '2026-11-20T20:00:00.000Z',
      createdTo: '2026-11-21T08:00:00.000Z',
      perSecond: 5,
    },
  }),
  request('recoverDeliveries', 'outage', "The merchant's system was away for two hours", {
    body: { merchantId: NEW_MERCHANT_ID, since: '2026-11-21T06:00:00.000Z', until: '2026-11-21T08:00:00.000Z' },
  }),
  request('pauseEndpoint', 'maintenance', 'The merchant maintains its system', {
    parameters: { merchantId: NEW_MERCHANT_ID, endpointKind: 'internal' },
    body: {},
  }),
  request('listEndpoints', 'paused', 'One is paused', { parameters: { merchantId: NEW_MERCHANT_ID } }),
  request('listFailures', 'forged', 'Somebody guesses at a signature', {
    parameters: { claimedMerchantId: NEW_MERCHANT_ID, reason: 'WRONG_SIGNATURE' },
  }),
  request('listQuarantine', 'held', 'Nothing is decided yet', {
    parameters: { merchantId: NEW_MERCHANT_ID, state: 'HELD' },
  }),
  request('releaseQuarantined', 'genuine', 'The sender confirms it', {
    parameters: { quarantineId: ID.quarantined },
    body: {},
  }),
  request('discardQuarantined', 'mistaken', 'The sender had mistaken the number', {
    parameters: { quarantineId: ID.mistaken },
    body: {},
  }),
  request('discardManyQuarantined', 'flood', 'A sender had repeated all it ever sent, with other words', {
    body: { merchantId: NEW_MERCHANT_ID, reason: 'STATUS_INFO_CONTRADICTED' },
  }),
  request('listStored', 'accepted', 'What was accepted of a merchant', {
    parameters: { merchantId: NEW_MERCHANT_ID, requestId: 'invoice-16' },
  }),
  request('replayStored', 'lost', 'The merchant has lost it', {
    body: { merchantId: NEW_MERCHANT_ID, requestId: 'invoice-16' },
  }),
  request('createSenderOf', 'billing', 'A system of the merchant that signs as Standard Webhooks do', {
    parameters: { merchantId: NEW_MERCHANT_ID },
    body: {
      name: 'Billing',
      scheme: 'standard-webhooks',
      secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
      internalTypes: ['invoice.*'],
    },
  }),
  request('listSendersOf', 'all', 'There is one', { parameters: { merchantId: NEW_MERCHANT_ID } }),
  request('updateSenderOf', 'allTypes', 'All of its types are forwarded from now on', {
    parameters: { merchantId: NEW_MERCHANT_ID, senderId: ID.senderOf },
    body: { name: 'Billing' },
  }),
  request('deleteSenderOf', 'billing', 'The system is gone', {
    parameters: { merchantId: NEW_MERCHANT_ID, senderId: ID.senderOf },
  }),
  request('resumeEndpoint', 'afterwards', 'The merchant is back', {
    parameters: { merchantId: NEW_MERCHANT_ID, endpointKind: 'internal' },
    body: {},
  }),
];
