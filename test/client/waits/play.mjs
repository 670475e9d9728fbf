/** Plays calls with the npm package, all at once: prints for each what it came to. */
// biome-ignore lint/correctness/noUndeclaredDependencies: the package as merchants install it.
import { Holdfast } from 'holdfast-client';

const HOLD = { tokenId: 'tok', amount: 100, currency: 'EUR', terminalId: 'T1', userId: 'u' };

async function play({ baseUrl, timeoutMs, isRead }) {
  const { holds } = new Holdfast({ baseUrl, apiKey: 'k' });
  try {
    const answer = isRead ? await holds.get('x', { timeoutMs }) : await holds.create(HOLD, { timeoutMs });
    const { outcome, requestId, reason } = answer;
    return { outcome, requestId, says: reason };
  } catch (error) {
    return { outcome: error.code, says: error.message };
  }
}

process.stdout.write(JSON.stringify(await Promise.all(JSON.parse(process.argv[2]).map(play))));
