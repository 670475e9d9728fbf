import assert from 'node:assert/strict';

const { eventsOf } = await import(new URL('../../../gateway/console/page/holds/events.js', import.meta.url).href);

const at = (second: number) => new Date(1_760_000_000_000 + second * 1000).toISOString();
const HOLD = {
  createdAt: at(0),
  amount: 1050,
  currency: 'EUR',
  merchantId: 'acme',
  terminalId: 'till-1',
  userId: 'ann',
};

describe('the timeline of a hold', () => {
  const titlesOf = (hold: object) => eventsOf({ ...HOLD, ...hold }).map(({ title }: { title: string }) => title);

  it('starts with the request', () => {
    assert.deepEqual(titlesOf({}), ['Hold of €10.50 asked for']);
  });

  it('lists requests, results and notifications in order, the result before its notification', () => {
    const money = { amount: 400, currency: 'EUR' };
    const story = {
      captures: [{ createdAt: at(2), finalCapture: true, status: 'OK', ...money }],
      operations: [
        {
          operation: 'HOLD',
          status: 'OK',
          statusInfo: 'authorized',
          finalStateDate: at(1),
          amount: 1050,
          currency: 'EUR',
        },
        { operation: 'CAPTURE', status: 'OK', statusInfo: 'captured', finalStateDate: at(3), ...money },
        { operation: 'REVERSAL', status: 'KO', statusInfo: 'reversed', finalStateDate: at(9), ...money },
      ],
      deliveries: [
        { createdAt: at(1), statusInfo: 'authorized', endpointKind: 'WEBHOOK', state: 'DELIVERED' },
        { createdAt: at(3), statusInfo: 'captured', endpointKind: 'WEBHOOK', state: 'PENDING' },
      ],
    };
    assert.deepEqual(titlesOf(story), [
      'Hold of €10.50 asked for',
      'Authorized: €10.50',
      'Notification “authorized” to the webhook endpoint',
      'Last capture of €4.00 asked for',
      'Captured: €4.00',
      'Notification “captured” to the webhook endpoint',
      'Reversed: €4.00',
    ]);
  });

  it('lists increments, extensions, refunds and what is planned', () => {
    const placed = { operation: 'HOLD', status: 'OK', statusInfo: 'authorized', amount: 1050 };
    const story = {
      amount: 1250,
      phase: 'AUTHORIZED',
      renews: 'an earlier hold',
      captureAt: new Date(Date.now() + 60_000).toISOString(),
      releaseAt: at(1),
      operations: [
        placed,
        { operation: 'INCREMENT', status: 'OK', statusInfo: 'incremented', amount: 200 },
        { operation: 'EXTENSION', status: 'OK', statusInfo: 'extended', amount: 0 },
        { operation: 'REFUND', status: 'OK', statusInfo: 'refunded', amount: 100 },
        { operation: 'EXPIRING', status: 'OK', statusInfo: 'expiring', amount: 700 },
      ].map((operation, index) => ({ ...operation, currency: 'EUR', finalStateDate: at(index + 1) })),
    };
    assert.deepEqual(titlesOf(story), [
      'Hold of €10.50 asked for',
      'Authorized: €10.50',
      'Incremented: €2.00',
      'Extended',
      'Refunded: €1.00',
      'Expiring: €7.00',
      'What remains is captured by itself',
    ]);
    assert.match(eventsOf({ ...HOLD, ...story })[0].detail, /; renews an earlier hold$/);
    assert(!titlesOf({ ...story, phase: 'CLOSED' }).includes('What remains is captured by itself'));
  });

  it('lists the renewals of a hold that is kept, and what happens next', () => {
    const soon = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();
    const kept = {
      phase: 'AUTHORIZED',
      guaranteedUntil: soon(60),
      expiresAt: soon(90),
      keepUntil: soon(120),
      operations: ['renewed', 'renewal_declined'].map((statusInfo, place) => ({
        operation: 'RENEWAL',
        status: place === 0 ? 'OK' : 'KO',
        statusInfo,
        amount: 1050,
        currency: 'EUR',
        finalStateDate: at(place + 1),
      })),
    };
    const done = ['Hold of €10.50 asked for', 'Renewed: €10.50', 'Renewal declined: €10.50'];
    const last = 'It no longer renews itself';
    assert.deepEqual(titlesOf(kept), [...done, 'What remains is authorized anew before this', last]);
    assert.deepEqual(titlesOf({ ...kept, keepUntil: soon(50) }), [...done, last]);
    assert.deepEqual(titlesOf({ ...kept, frozen: true }), [...done, last]);
    assert.deepEqual(titlesOf({ ...kept, releaseAt: soon(30) }), [...done, 'What remains is released by itself', last]);
    assert.deepEqual(titlesOf({ ...kept, phase: 'CLOSED' }), done);
  });

  it('names what has failed', () => {
    const declined = { operation: 'CAPTURE', status: 'KO', statusInfo: 'declined', finalStateDate: at(3) };
    const operations = [{ ...declined, amount: 400, currency: 'EUR' }];
    assert.equal(titlesOf({ operations }).at(-1), 'Capture declined: €4.00');
  });

  it('shows the state of a capture without a result', () => {
    const captures = [{ createdAt: at(2), status: 'UNKNOWN', amount: 400, currency: 'EUR' }];
    assert.equal(eventsOf({ ...HOLD, captures }).at(-1).word, 'UNKNOWN');
  });

  it('has what the processor contradicted, with both sides, and who resolved it', () => {
    const said = { kind: 'FOREIGN_CAPTURE', source: 'EVENT', processor: 'stripe', eventId: 'foreign-1' };
    const sides = { told: 'FOREIGN_CAPTURE', kept: 'NONE', toldAmount: 400, currency: 'EUR', reference: 'ch_1' };
    const open = { at: at(1), ...said, ...sides };
    const resolved = { ...open, at: at(2), resolvedAt: at(3), resolvedBy: 'operator/ann', resolution: 'imported' };
    const events = eventsOf({ ...HOLD, contradictions: [open, resolved] });
    assert.deepEqual(events.map(({ title, word, detail }: Record<string, string>) => [title, word, detail]).slice(1), [
      [
        'Charged by somebody else',
        'CONTRADICTED',
        'stripe said by the event foreign-1: Foreign capture €4.00 · here: None · its reference ch_1',
      ],
      [
        'Charged by somebody else',
        undefined,
        'stripe said by the event foreign-1: Foreign capture €4.00 · here: None · its reference ch_1',
      ],
      ['Resolved: Charged by somebody else', undefined, 'operator/ann: imported'],
    ]);
  });
});
