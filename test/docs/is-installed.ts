import { spawnSync } from 'node:child_process';

/** Returns whether a program is on the PATH. Some documented commands need programs that not every machine has. */
export function isInstalled(program: string): boolean {
  return spawnSync(program, ['--help'], { stdio: 'ignore' }).error === undefined;
}
