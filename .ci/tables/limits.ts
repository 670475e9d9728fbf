import { OPENINGS } from '../../gateway/event-stream/stream-limit.ts';
import { JSON_BOUNDS } from '../../gateway/http/json-body.ts';
import { GUESSES } from '../../gateway/operator/session/verify-token.ts';
import { JSON_BOUNDS as RELAYED_JSON_BOUNDS } from '../../gateway/relay/notification.ts';
import { CAPTURES_PER_HOLD } from '../../gateway/rest/limit-in-flight.ts';
import { GATEWAY_SETTINGS } from '../../gateway/settings.ts';
import { MAX_PER_HOLD, STORE } from '../../services/core/books/books.ts';
import { DEFAULT_ENDPOINT_SLOTS } from '../../services/core/delivery/deliverer.ts';
import { SLOW_SLOTS } from '../../services/core/delivery/endpoint-slots.ts';
import { WAIT_MS } from '../../services/core/rpc/server/read-turns.ts';
import { CORE_SETTINGS } from '../../services/core/settings/core-settings.ts';
import { PER_MINUTE } from '../../services/core/storage/merchant/quota.ts';
import { READ_LIMITS } from '../../services/core/storage/open-pool.ts';
import type { Table } from '../generated.ts';

const gateway = GATEWAY_SETTINGS.shape;
const number = (value: unknown) => String(value).replace(/\B(?=(\d{3})+$)/g, ' ');
const preset = (setting: { parse(value: undefined): unknown }) => number(setting.parse(undefined));
const seconds = (ms: number) => `${ms / 1_000} s`;

/** What one merchant, address or hold may use; of settings their defaults. */
export function limitsTable(): Table {
  return [
    ['What', 'Limit'],
    ['REST', `${preset(gateway.REST_RATE_PER_SECOND)} requests a second for each API key`],
    [
      'event streams',
      `${preset(gateway.STREAMS_PER_API_KEY)} open for each API key at a gateway, ${OPENINGS.points} openings in ` +
        `${OPENINGS.durationSeconds} s`,
    ],
    [
      'relay',
      `${preset(gateway.RELAY_VERIFIED_PER_SECOND)} verified notifications a second for each merchant; ` +
        `${preset(gateway.RELAY_ADDRESS_PER_SECOND)} requests and as many KiB of larger bodies a second ` +
        'for each address',
    ],
    [
      'calls in one core',
      `${preset(CORE_SETTINGS.shape.MAX_CALLS_IN_FLIGHT)}; a merchant has at most as many as it leaves free. Above: ` +
        '429, or 503 when all are in use',
    ],
    [
      'calls in one core that wait for one of several processors',
      'a quarter of those above. Above: 503 for a new hold or OCT, 202 at once for the rest',
    ],
    [
      'requests at one gateway',
      `${preset(gateway.REST_IN_FLIGHT)} (\`REST_IN_FLIGHT\`), shared among merchants in the same way; here and in ` +
        'core, what a merchant does with its webhook has a share of its own',
    ],
    [
      'reads of one merchant in one core',
      `one at a time, in the order of arrival; after ${seconds(WAIT_MS)} of waiting 429. A read that takes ` +
        `${seconds(READ_LIMITS.statement_timeout)} is stopped: 503`,
    ],
    ['metadata of a hold', '20 pairs, names to 40 and values to 500 characters; 16 384 bytes in UTF-8 in all'],
    [
      'captures of one hold',
      `${CAPTURES_PER_HOLD} in progress at a gateway, ${MAX_PER_HOLD} waiting at a core; one more gets 429`,
    ],
    ['operations that wait to be stored', `${seconds(STORE.maxWaitMs)}, then 503`],
    [
      'JSON',
      `${number(JSON_BOUNDS.maxValues)} values; ${JSON_BOUNDS.maxNames} names in requests, ` +
        `${RELAYED_JSON_BOUNDS.maxNames} in relayed bodies`,
    ],
    ['attempts at once at one endpoint', `${DEFAULT_ENDPOINT_SLOTS}; ${SLOW_SLOTS} where it takes a second or more`],
    [
      'test notifications, replays and recoveries by a merchant',
      `${PER_MINUTE['delivery.test']}, ${PER_MINUTE['delivery.replay']} and ${PER_MINUTE['delivery.recover']} a ` +
        'minute for each merchant',
    ],
    [
      'operator sign-in',
      `${GUESSES.failures.points} wrong tokens a minute for each address, then growing penalties up to an hour`,
    ],
  ];
}
