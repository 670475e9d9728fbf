import { spawnSync } from 'node:child_process';

/** Whether a program is on the PATH. What readers will copy needs some that not every machine has. */
export function isInstalled(program: string): boolean {
  return spawnSync(program, ['--help'], { stdio: 'ignore' }).error === undefined;
}
