/** The views that are lists: what each lists, by what it is searched, and what is shown of a row. */
import { detailOf } from './audit/detail.js';
import { nameOfEndpoint, pauseDialog, replayManyDialog, resumeDialog } from './deliveries/dialogs.js';
import { newMerchantDialog } from './merchants/dialogs.js';
import { bothSides, discardDialog, releaseDialog, replayStoredDialog, Sums, said } from './relay/relay.js';
import { acknowledgeDialog, resolveDialog } from './reviews/resolve.js';
import { dateFields, moneyAndDateFields } from './shell/filters.js';
import { listView } from './shell/list.js';
import { linkTo } from './shell/route.js';
import { badge, decide, id, merchantLink, money, number, time, word } from './shell/table.js';
import { html } from './shell/view.js';
import { sidesOf, titleOf } from './words/contradictions.js';
import { KNOWN_KINDS } from './words/known-kinds.js';
import { hoursAhead, spanOf } from './words/time.js';
import { choicesOf, ENDPOINTS, endpointOf, holdOf, PAUSES, textOf } from './words/words.js';

const MERCHANT = { name: 'merchantId', label: 'Merchant' };

const STATUSES = choicesOf('IN_PROGRESS', 'PARTIALLY_CAPTURED', 'CAPTURED', 'RELEASED', 'EXPIRED', 'FAILED');
const ENDS = { '1h': 'Within 1 hour', '24h': 'Within 24 hours', '72h': 'Within 3 days' };

export const HoldsView = listView({
  title: 'Holds',
  from: '/holds',
  fields: [
    { name: 'requestId', label: 'Request ID' },
    MERCHANT,
    { name: 'merchantReference', label: "Merchant's reference" },
    { name: 'userId', label: 'User' },
    { name: 'status', label: 'Status', options: STATUSES },
    ...moneyAndDateFields('created', 'Asked for'),
    { name: 'expiring', label: 'Ends', options: ENDS, as: 'expiringBefore', read: hoursAhead },
  ],
  columns: [
    ['Hold', id('requestId', 'holds')],
    ['Status', badge('status')],
    ['Amount', money('amount')],
    ['Captured', money('amountCaptured')],
    ['Remaining', money('amountRemaining')],
    ['Merchant', 'merchantId'],
    ['Reference', 'merchantReference'],
    ['Asked for', time('createdAt')],
    ['Ends', time('expiresAt')],
  ],
  keyOf: 'requestId',
  empty: 'No hold matches.',
});

/** Everything that has a result: holds, captures, releases, OCTs and whatever else. */
export const OperationsView = listView({
  title: 'Operations',
  lead: 'Final results, newest first. What has no result yet needs attention, or is on its way.',
  from: '/operations',
  fields: [
    MERCHANT,
    { name: 'merchantReference', label: "Merchant's reference" },
    { name: 'reason', label: 'Reason' },
    { name: 'operation', label: 'What', options: choicesOf(...KNOWN_KINDS) },
    { name: 'status', label: 'Result', options: choicesOf('OK', 'KO') },
    ...moneyAndDateFields('final', 'Final'),
  ],
  columns: [
    ['Operation', id('requestId', 'operations')],
    ['What', ({ operation }) => textOf(operation)],
    ['Result', (row) => html`${badge('status')(row)} ${row.statusInfo}`],
    ['Amount', money('amount')],
    ['Merchant', 'merchantId'],
    ['Reference', 'merchantReference'],
    ['Hold', id('holdRequestId', 'holds')],
    ['Final', time('finalStateDate')],
  ],
  keyOf: 'requestId',
  empty: 'No operation matches.',
});

export const DeliveriesView = listView({
  title: 'Deliveries',
  from: '/deliveries',
  fields: [
    MERCHANT,
    { name: 'endpointKind', label: 'Endpoint', options: ENDPOINTS },
    { name: 'endpointId', label: 'Endpoint ID' },
    { name: 'state', label: 'State', options: choicesOf('PENDING', 'DELIVERED', 'DEAD') },
    { name: 'requestId', label: 'Request ID' },
    ...dateFields('created', 'Created'),
  ],
  button: { text: 'Replay many…', dialog: replayManyDialog },
  columns: [
    ['Delivery', id('deliveryId', 'deliveries')],
    ['State', badge('state')],
    ['About', ({ kind, statusInfo }) => `${kind.toLowerCase()} ${statusInfo}`],
    ['Merchant', 'merchantId'],
    ['Endpoint', endpointOf],
    ['Attempts', number('attemptCount')],
    ['Created', time('createdAt')],
    ['Next attempt', time('dueAt')],
  ],
  keyOf: 'deliveryId',
  empty: 'No delivery matches.',
});

/** A count of deliveries to an endpoint, with a link to them. Core counts up to 1 000. */
const backlogOf = (state, field) => (endpoint) => {
  const { merchantId, endpointId, [field]: count } = endpoint;
  if (!count) return count;
  const href = linkTo(['deliveries'], { merchantId, endpointId, state });
  return html`<a href=${href}>${count < 1_000 ? count : '1000 or more'}</a>`;
};

export const EndpointsView = listView({
  title: 'Endpoints',
  lead: 'Endpoints of all merchants that fail or are paused. One that always worked is not listed.',
  order: 'the one that has failed longest first',
  from: '/endpoints',
  button: { text: 'Pause endpoint…', dialog: () => pauseDialog({}) },
  columns: [
    ['Merchant', merchantLink],
    ['Endpoint', endpointOf],
    ['Paused', ({ pause }) => (pause ? (PAUSES[pause] ?? pause) : 'No')],
    ['Until', time('pausedUntil')],
    ['Fails since', time('failingSince')],
    ['Failures in a row', number('failureCount')],
    ['Newest error', 'lastError'],
    ['Wait', number(backlogOf('PENDING', 'waitingCount'))],
    ['Dead', number(backlogOf('DEAD', 'deadCount'))],
    ['Changed', time('changedAt')],
    decide(nameOfEndpoint, ({ pause }) => [pause ? ['Resume', resumeDialog] : ['Pause', pauseDialog]]),
  ],
  keyOf: (endpoint) => `${endpoint.merchantId} ${endpointOf(endpoint)}`,
  empty: 'Every endpoint works.',
});

export const FailuresView = listView({
  title: 'Relay failures',
  lead: 'Notifications that the relay could not verify. The merchant is only a claim.',
  from: '/relay/failures',
  fields: [
    { name: 'claimedMerchantId', label: 'Claimed merchant' },
    {
      name: 'reason',
      label: 'Reason',
      options: choicesOf('MISSING_SIGNATURE', 'MALFORMED_SIGNATURE', 'WRONG_SIGNATURE', 'UNKNOWN_MERCHANT'),
    },
  ],
  Above: Sums,
  columns: [
    ['When', time('failedAt')],
    ['Reason', ({ reason }) => textOf(reason)],
    ['Source', ({ address }) => address || html`<span class="quiet">gone</span>`],
    ['Claims to be of', 'claimedMerchantId'],
    ['Path', ({ kind, statusInfo }) => `${kind.toLowerCase()}/${statusInfo}`],
    ['Body', number(({ bodyBytes }) => `${bodyBytes} bytes`)],
  ],
  keyOf: 'failureId',
  empty: 'Nothing was refused.',
});

export const StoredView = listView({
  title: 'Accepted notifications',
  lead: 'What the relay has verified and accepted. Parked ones are forwarded as soon as the merchant has an internal URL.',
  from: '/relay/notifications',
  fields: [
    MERCHANT,
    { name: 'requestId', label: 'Request ID (with a merchant)' },
    { name: 'state', label: 'State', options: choicesOf('PARKED') },
  ],
  columns: [
    ['Received', time('receivedAt')],
    ['State', badge('state')],
    ['Merchant', 'merchantId'],
    ['Request ID', id('requestId')],
    ['Says', said],
    ['Delivery', id('deliveryId', 'deliveries')],
    decide('requestId', () => [['Replay', replayStoredDialog]]),
  ],
  keyOf: ({ merchantId, requestId }) => `${merchantId} ${requestId}`,
  empty: 'No notification matches.',
});

const CONTRADICTIONS = {
  CONFLICT: 'Another notification with this requestId was accepted',
  STATUS_INFO_CONTRADICTED: 'Its path contradicts it',
};

/** Notifications that were verified and must not be accepted as they are. */
export const QuarantineView = listView({
  title: 'Quarantine',
  lead: 'Notifications with a genuine signature that contradict what was accepted, or themselves.',
  from: '/relay/quarantine',
  fields: [MERCHANT, { name: 'state', label: 'State', options: choicesOf('HELD', 'RELEASED', 'DISCARDED') }],
  columns: [
    ['Received', time('receivedAt')],
    ['State', badge('state')],
    ['Why', word('reason', CONTRADICTIONS)],
    ['Merchant', 'merchantId'],
    ['Request ID', id('requestId')],
    ['Says', bothSides],
    decide('requestId', ({ state, deliveryId }) => {
      if (state === 'HELD') {
        return [
          ['Release', releaseDialog],
          ['Discard', discardDialog],
        ];
      }
      return deliveryId && html`<a href=${linkTo(['deliveries', deliveryId])}>Delivery</a>`;
    }),
  ],
  keyOf: 'quarantineId',
  empty: 'Nothing is set aside.',
});

const REVIEW_REASONS = choicesOf('UNKNOWN', 'NEEDS_REVIEW', 'FROZEN', 'CONTRADICTED');
const REVIEW_ACTIONS = {
  UNKNOWN: html`<span class="quiet">inquiring</span>`,
  CONTRADICTED: [['Acknowledge', acknowledgeDialog]],
};

/** Operations without a result, frozen holds, and what else is contradicted. No machine may guess how they ended. */
export const ReviewsView = listView({
  title: 'Needs attention',
  lead: 'Inquiries go on while an outcome is unknown. What they cannot settle is for you.',
  order: 'oldest first',
  from: '/reviews',
  fields: [MERCHANT, { name: 'reason', label: 'Why', options: REVIEW_REASONS }],
  columns: [
    ['Why', badge('reason')],
    ['What', ({ operation, lateVoid }) => (lateVoid ? 'Void of a late authorization' : operation && textOf(operation))],
    [
      'Contradicted',
      ({ contradictions: [newest] = [] }) => newest && html`<span title=${sidesOf(newest)}>${titleOf(newest)}</span>`,
    ],
    ['Amount', money('amount')],
    ['Merchant', 'merchantId'],
    ['Processor', 'processor'],
    ['Hold', (item) => (holdOf(item) ? id('hold', 'holds')({ hold: holdOf(item) }) : id('requestId')(item))],
    ['For', ({ ageSeconds }) => spanOf(ageSeconds)],
    ['Inquiries', number('inquiryCount')],
    ['Next inquiry', time('nextInquiryAt')],
    decide('requestId', ({ reason }) => REVIEW_ACTIONS[reason] ?? [['Resolve', resolveDialog]]),
  ],
  keyOf: ({ requestId, reason }) => `${requestId} ${reason}`,
  empty: 'Nothing waits for you.',
});

export const MerchantsView = listView({
  title: 'Merchants',
  from: '/merchants',
  order: 'by ID',
  button: { text: 'New merchant…', tone: 'main', dialog: newMerchantDialog },
  columns: [
    ['Merchant', merchantLink],
    ['Name', 'name'],
    ['Captures per hold', ({ contract }) => (contract.allowMultipleCaptures ? 'Several' : 'One')],
    ['Currencies', ({ contract }) => contract.currencies.join(', ')],
    ['Since', time('createdAt')],
  ],
  keyOf: 'merchantId',
  empty: 'There is no merchant yet.',
});

/** What operators did, and merchants with their webhooks. */
export const AuditView = listView({
  title: 'Audit log',
  from: '/audit',
  fields: [
    { name: 'target', label: 'About (an id)' },
    { name: 'action', label: 'Action' },
    ...dateFields('at', 'Written'),
  ],
  columns: [
    ['When', time('at')],
    ['Who', 'actor'],
    ['What', ({ action }) => html`<code>${action}</code>`],
    ['About', ({ target }) => html`<code>${target}</code>`],
    ['Details', detailOf],
  ],
  keyOf: 'auditEntryId',
  empty: 'No entry matches.',
});
