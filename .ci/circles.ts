/** Circles of imports. */
import type { Source } from './sources.ts';

/** Returns one line for each circle in which files of the tree import each other, types included. */
export function circleFaults(sources: readonly Source[]): string[] {
  return circles(sources).map((paths) => `${paths.join(' -> ')} is a circle`);
}

/** Finds the circles, each as its files in some order (Tarjan, 1972). */
function circles(sources: readonly Source[]): string[][] {
  const targets = new Map(sources.map(({ path, imports }) => [path, imports.map(({ target }) => target)]));
  const order = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  /** Returns the earliest file on the stack that this one leads to. */
  const visit = (path: string): number => {
    const own = order.size;
    order.set(path, own);
    stack.push(path);
    let lowest = own;
    for (const target of targets.get(path) ?? []) {
      if (!targets.has(target)) continue;
      if (!order.has(target)) lowest = Math.min(lowest, visit(target));
      else if (stack.includes(target)) lowest = Math.min(lowest, order.get(target) ?? own);
    }
    if (lowest === own) {
      const circle = stack.splice(stack.indexOf(path));
      if (circle.length > 1) found.push(circle.sort());
    }
    return lowest;
  };
  for (const path of targets.keys()) if (!order.has(path)) visit(path);
  return found;
}
