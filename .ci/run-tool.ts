/** Programs of the packages, without a shell. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ROOT } from './sources.ts';

/** Runs a program, of node_modules/.bin if it is there. Returns its output; throws it when the program fails. */
export async function runTool(program: string, args: readonly string[]): Promise<string> {
  const PATH = `${ROOT}node_modules/.bin:${process.env.PATH}`;
  const options = { cwd: ROOT, env: { ...process.env, PATH, NO_COLOR: '1' }, maxBuffer: 2 ** 26 };
  try {
    return (await promisify(execFile)(program, args, options)).stdout;
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
    throw new Error(`${stdout}${stderr}`.trim() || message, { cause: error });
  }
}
