import assert from 'node:assert/strict';
import { main } from '../../../client/command/holdfast.ts';

type Environment = Record<string, string>;

/** Runs a command line. Returns its exit code, and what it printed on both outputs. */
export async function runLine(line: string, env: Environment, answers: string[] = [], signal?: AbortSignal) {
  const said: string[] = [];
  const print = (text: string) => void said.push(text);
  const ask = async () => answers.shift() ?? assert.fail('asked for more');
  const outside = { env, out: print, err: print, ask, ...(signal && { signal }) };
  const code = await main(line.split(' '), outside);
  return { code, text: said.join('\n') };
}

/** What a command line prints as JSON. */
export async function printedBy(line: string, env: Environment) {
  const { code, text } = await runLine(`${line} --json`, env);
  assert.equal(code, 0, text);
  return JSON.parse(text);
}
