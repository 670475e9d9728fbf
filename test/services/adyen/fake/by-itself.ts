import { request } from 'node:http';
import type { FakeAdyen } from './fake-adyen.ts';
import type { Item } from './payment.ts';

/** What may go wrong on the way. */
export interface Way {
  /** Between the event and its first notification, milliseconds. */
  readonly delayMs?: number;
  /** How often each is sent, and whether they are shuffled. */
  readonly times?: number;
  readonly shuffled?: boolean;
}

/** Sends each notification to the adapter, as Adyen does: again until it is answered `[accepted]`. */
export function notifyByItself(
  adyen: FakeAdyen,
  url: string,
  { delayMs = 200, times = 1, shuffled = false }: Way = {},
) {
  const timers = new Set<NodeJS.Timeout>();
  const later = (waitMs: number, act: () => void) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      act();
    }, waitMs);
    timers.add(timer);
  };
  const send = (item: Item) => {
    post(url, item).then(
      (text) => text !== '[accepted]' && later(500, () => send(item)),
      () => later(500, () => send(item)),
    );
  };
  adyen.onItem = (item) => {
    // The card scheme's own come later than what was asked for.
    const leastMs = item.eventCode.startsWith('CHARGEBACK') ? 4_000 : 0;
    for (let time = 0; time < times; time += 1) {
      const factor = shuffled ? 0.5 + 2 * Math.random() : 1;
      later(leastMs + delayMs * factor, () => send(item));
    }
  };
  return {
    /** Keeps what is to be notified, as if Adyen were still at work, until what it returns is called. */
    hold(): () => void {
      const [kept, notify]: [Item[], FakeAdyen['onItem']] = [[], adyen.onItem];
      adyen.onItem = (item) => void kept.push(item);
      return () => {
        adyen.onItem = notify;
        for (const item of kept) notify(item);
      };
    },
    stop() {
      adyen.onItem = () => undefined;
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

/** Posts one notification item; returns the text of the answer. */
export function post(url: string, ...items: readonly object[]): Promise<string> {
  const notificationItems = items.map((item) => ({ NotificationRequestItem: item }));
  return new Promise((resolve, reject) => {
    const posting = request(url, { method: 'POST', headers: { 'content-type': 'application/json' } }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve(text));
    });
    posting.on('error', reject);
    posting.end(JSON.stringify({ live: 'false', notificationItems }));
  });
}
