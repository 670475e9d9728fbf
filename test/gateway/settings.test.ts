import assert from 'node:assert/strict';
import { GATEWAY_SETTINGS } from '../../gateway/settings.ts';
import { readSettings } from '../../platform/settings.ts';
import { TOKEN } from './fake-core.ts';

describe('gateway readSettings(GATEWAY_SETTINGS, )', () => {
  it('has a default for everything but the token', () => {
    assert.deepEqual(readSettings(GATEWAY_SETTINGS, { GATEWAY_TOKEN: TOKEN, REDIS_URL: '', PORT: '' }), {
      HOST: '127.0.0.1',
      PORT: 8080,
      GATEWAY_PROCESSES: 1,
      CORE_URL: '127.0.0.1:50051',
      GATEWAY_TOKEN: TOKEN,
      TRUSTED_PROXY_HOPS: 0,
      REST_RATE_PER_SECOND: 500,
      REST_IN_FLIGHT: 512,
      STREAMS_PER_API_KEY: 100,
      RELAY_VERIFIED_PER_SECOND: 500,
      RELAY_ADDRESS_PER_SECOND: 2000,
      CORE_TIMEOUT_MS: 15_000,
      LOG_LEVEL: 'info',
    });
  });

  for (const [name, value] of [
    ['GATEWAY_TOKEN', 'short-and-secret'],
    // What core takes while it is replaced: shown by a caller it would be none of the two.
    ['GATEWAY_TOKEN', `${TOKEN},${TOKEN}`],
    ['GATEWAY_TOKEN', undefined],
    ['PORT', '70000'],
    ['PORT', 'http'],
    ['GATEWAY_TOKEN', ''],
    ['GATEWAY_PROCESSES', '0'],
    ['REDIS_URL', 'http://redis-host'],
    ['TRUSTED_PROXY_HOPS', '-1'],
    ['REST_RATE_PER_SECOND', '0'],
    ['REST_IN_FLIGHT', '1'],
    ['STREAMS_PER_API_KEY', '0'],
    ['LOG_LEVEL', 'loud'],
  ] as const) {
    it(`names ${name} when it is ${value}, and does not quote it`, () => {
      assert.throws(
        () => readSettings(GATEWAY_SETTINGS, { GATEWAY_TOKEN: TOKEN, [name]: value }),
        ({ message }: Error) => {
          assert.match(message, new RegExp(`^settings: ${name}(: | is not set$)`));
          assert.doesNotMatch(message, /\n|short-and-secret|redis-host|70000/);
          return true;
        },
      );
    });
  }
});
