/**
 * The switch between mutants, in the process that runs the tests. Instrumented code asks `__mutants(id)` at each mutant;
 * at most one is active.
 */
export interface Switch {
  (id: number): boolean;
  /** A constant of a module: `make` computes its value, `set` changes it. */
  constant<T>(key: string, make: () => T, set: (value: T) => void): T;
  /** Tells that the constant is read. */
  read<T>(key: string, value: T): T;
}

interface Constant {
  ids: Set<number>;
  reads: Set<string>;
  renew: () => void;
}

/** A mutated loop may never end. Nothing asks for one mutant as often within one test. */
const mostHits = 1_000_000;

interface State {
  constants: Map<string, Constant>;
  /** The constant whose value is being computed, while modules are loaded. */
  evaluated?: Constant | undefined;
  active: number;
  hits: number;
  recorded?: { ids: Set<number>; reads: Set<string> } | undefined;
}

const shared = globalThis as typeof globalThis & { __mutantState?: State };
/** One for the process, however often this module is loaded in it. */
const state: State = (shared.__mutantState ??= { constants: new Map(), active: 0, hits: 0 });

const isActive: Switch = Object.assign(
  (id: number) => {
    state.recorded?.ids.add(id);
    state.evaluated?.ids.add(id);
    if (id !== state.active) return false;
    state.hits += 1;
    if (state.hits > mostHits) throw new Error('endless loop in a mutant');
    return true;
  },
  {
    constant<T>(key: string, make: () => T, set: (value: T) => void): T {
      const constant: Constant = { ids: new Set(), reads: new Set(), renew: () => set(make()) };
      state.constants.set(key, constant);
      state.evaluated = constant;
      try {
        return make();
      } finally {
        state.evaluated = undefined;
      }
    },
    read<T>(key: string, value: T): T {
      state.recorded?.reads.add(key);
      state.evaluated?.reads.add(key);
      return value;
    },
  },
);

export function install(): void {
  Object.assign(globalThis, { __mutants: isActive });
}

/** Switches to one mutant, or to none (0), and recomputes the constants of the module that contains it. */
export function activate(id: number): void {
  const before = state.active;
  state.active = id;
  state.hits = 0;
  const concerned = [...state.constants.values()].some(({ ids }) => ids.has(id) || ids.has(before));
  if (concerned) for (const { renew } of state.constants.values()) renew();
}

/** Starts to note which mutants are reached; the function that it returns stops, and tells them. */
export function record(): () => Set<number> {
  const own = { ids: new Set<number>(), reads: new Set<string>() };
  state.recorded = own;
  return () => {
    state.recorded = undefined;
    const seen = new Set<string>();
    const visit = (key: string) => {
      const constant = state.constants.get(key);
      if (!constant || seen.has(key)) return;
      seen.add(key);
      for (const id of constant.ids) own.ids.add(id);
      for (const other of constant.reads) visit(other);
    };
    for (const key of own.reads) visit(key);
    return own.ids;
  };
}
