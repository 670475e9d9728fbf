/** Before npm packs: the package as ES modules, and its library once more for require(). */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = (path) => fileURLToPath(new URL(path, import.meta.url));

rmSync(folder('dist'), { recursive: true, force: true });
for (const project of ['tsconfig.json', 'tsconfig.cjs.json']) {
  const tsc = [folder('../node_modules/typescript/bin/tsc'), '-p', folder(project)];
  execFileSync(process.execPath, tsc, { stdio: 'inherit' });
}
writeFileSync(folder('dist/cjs/package.json'), '{ "type": "commonjs" }\n');
