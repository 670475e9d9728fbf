/** What came before this tree, as far as git knows. */
import { runTool } from './sources.ts';

/**
 * The commit that main had before: the last one, or the one before it where the tree is main itself. Undefined when
 * there is none, as in a shallow clone.
 */
export async function previousCommit(): Promise<string | undefined> {
  const head = await git('rev-parse', '--verify', '--quiet', 'HEAD');
  const main = (await git('rev-parse', '--verify', '--quiet', 'main')) ?? head;
  const isMain = main === head && (await git('status', '--porcelain')) === '';
  return isMain ? git('rev-parse', '--verify', '--quiet', 'HEAD~1') : main;
}

/** The newest release in the history of that commit, by its tag. Undefined when there is none. */
export async function previousRelease(): Promise<string | undefined> {
  const commit = await previousCommit();
  return commit && git('describe', '--tags', '--abbrev=0', '--match=v[0-9]*', '--exclude=*-*', commit);
}

/** What git prints; undefined when it fails. */
async function git(...args: string[]): Promise<string | undefined> {
  return runTool('git', args).then(
    (output) => output.trim(),
    () => undefined,
  );
}
