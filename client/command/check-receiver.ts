/** `holdfast check-receiver`: grades a merchant's own receiver of notifications. */

import { isSigningSecret } from '../webhooks/signature.ts';
import { readAddress } from './address.ts';
import { CommandFailed } from './command-failed.ts';
import { type Checked, check, said, type Target, worst } from './receiver/check.ts';
import { DELIVERIES } from './receiver/deliveries.ts';
import { GRADES, type Grade } from './receiver/delivery.ts';
import { findEffects } from './receiver/effects.ts';
import { createSample } from './receiver/sample.ts';
import type { Answer } from './receiver/send.ts';
import { argument, type Command, type Run } from './run.ts';
import { fetchTrusting, readTrusted } from './trust.ts';
import { UsageError } from './usage-error.ts';

export const CHECK_RECEIVER: Command = {
  args: 'URL',
  what: 'grade a receiver of notifications: twice, late, forged, recorded, malformed …',
  options: {
    merchant: 'the merchantId in the notifications, default check-receiver',
    effects: 'address that answers GET {address}/{requestId} with how often the receiver acted on it',
  },
  async run(run) {
    const { ca, effects } = run.options;
    const url = readAddress('URL', argument(run, 'URL'));
    const effectsUrl = effects === undefined ? undefined : readAddress('--effects', effects);
    const merchantId = merchantOf(run);
    const secret = await secretOf(run);
    const target: Target = {
      url,
      secret,
      merchantId,
      signal: run.signal,
      ...(ca !== undefined && { ca: await readTrusted(ca) }),
    };
    announce(run, target);
    const all = await checkAll(run, target);
    if (effectsUrl !== undefined && !all.some(({ failure }) => failure?.grade === 'E')) {
      const fetch = ca === undefined ? globalThis.fetch : await fetchTrusting(ca);
      for (const found of await findEffects(effectsUrl, all, { fetch, signal: run.signal })) {
        all.push(found);
        tellOf(run, found);
      }
    }
    conclude(run, all, effectsUrl !== undefined);
  },
};

/** As a contract's merchantId. Throws UsageError for another one. */
function merchantOf({ options: { merchant = 'check-receiver' } }: Run): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{1,63}$/.test(merchant)) return merchant;
  throw new UsageError('--merchant is 2 to 64 letters, digits, dots, hyphens and underscores');
}

/** The signing secret of the receiver: never an option, which other users of the machine could read. */
async function secretOf({ env, ask }: Run): Promise<string> {
  const secret = env.SIGNING_SECRET || (await ask("The receiver's signing secret (not shown): ", true));
  if (isSigningSecret(secret)) return secret;
  throw new UsageError(
    secret === ''
      ? "a signing secret is needed: set SIGNING_SECRET to the receiver's, or type it"
      : 'the signing secret is malformed: it is whsec_ and at least 24 bytes of Base64, as it was issued',
  );
}

function announce({ tell }: Run, { url, merchantId, secret }: Target): void {
  const sample = createSample(merchantId, secret);
  const requests = DELIVERIES.flatMap((delivery) => delivery.requests(sample)).length;
  const text =
    `sends up to ${requests} requests to ${url}: notifications of merchant ${merchantId} about money that never moved. ` +
    'Their requestIds begin with check-receiver-, their merchantReference is check-receiver.';
  tell(text, { url, merchantId, requests, deliveries: DELIVERIES.length });
}

async function checkAll(run: Run, target: Target): Promise<Checked[]> {
  const all: Checked[] = [];
  for await (const checked of check(target, DELIVERIES)) {
    const [first] = checked.answers;
    if (all.length === 0 && first?.status === undefined) throw new CommandFailed(unreachable(target.url, first));
    all.push(checked);
    tellOf(run, checked);
  }
  if (run.signal.aborted) throw new CommandFailed(`ended after ${all.length} of ${DELIVERIES.length}: no grade`);
  return all;
}

/** Why not even the first delivery was answered. */
function unreachable(url: string, { error = '' }: Answer = {}): string {
  if (error === 'ECONNREFUSED') return `nothing listens at ${url} (${error})`;
  if (/^(ENOTFOUND|EAI_AGAIN)$/.test(error)) return `the name in ${url} is not known (${error})`;
  if (/^(EPROTO|ERR_SSL_.*)$/.test(error)) return `${url} does not speak TLS (${error}): is it http?`;
  if (/CERT|SIGNATURE|ISSUER|ERR_TLS/.test(error))
    return `the certificate of ${url} is not trusted (${error}); --ca names a file with your own`;
  return `${url} does not answer: ${said({ error })}`;
}

function tellOf({ tell }: Run, { delivery, answers, failure }: Checked): void {
  const { name, sends, mend, read } = delivery;
  const record = { name, sends, passed: failure === undefined, answers };
  const seen = failure ? failure.what : [...new Set(answers.map(said))].join(', ');
  const line = `${failure ? 'FAIL' : 'ok  '}  ${name.padEnd(23)}  ${sends}: ${seen}`;
  if (!failure) {
    tell(line, record);
    return;
  }
  tell(`${line}\n${INDENT}mend: ${failure.mend ?? mend}\n${INDENT}read: ${read}`, {
    ...record,
    grade: failure.grade,
    what: failure.what,
    mend: failure.mend ?? mend,
    read,
  });
}

const INDENT = ' '.repeat(6);

/** Tells the grade. Throws CommandFailed unless it is the best. */
function conclude({ tell }: Run, all: readonly Checked[], hasEffects: boolean): void {
  const failed = all.filter(({ failure }) => failure !== undefined);
  const grade: Grade = worst(failed.map(({ failure }) => failure))?.grade ?? 'A';
  const names = failed.map(({ delivery }) => delivery.name);
  const findings = { grade, meaning: GRADES[grade], deliveries: all.length, failed: names, effects: hasEffects };
  const unseen = hasEffects ? '' : '; whether it acts once on each is not seen without --effects';
  if (grade === 'A') {
    tell(`grade A: all ${all.length} deliveries passed${unseen}`, { outcome: 'done', ...findings });
    return;
  }
  throw new CommandFailed(`grade ${grade}: ${GRADES[grade]}. Failed: ${names.join(', ')}${unseen}`, findings);
}
