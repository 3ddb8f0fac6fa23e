/**
 * Activates mutants in the test process. Instrumented code calls `__mutants(id)` at each mutant; at most one is active.
 */
interface Switch {
  (id: string): boolean;
  /** Registers a module constant: `make` computes its value, `set` assigns it. */
  constant<T>(key: string, make: () => T, set: (value: T) => void): T;
  /** Records a read of the constant. */
  read<T>(key: string, value: T): T;
}

interface Constant {
  ids: Set<string>;
  reads: Set<string>;
  renew: () => void;
}

/** Limit of hits per mutant and test, which detects endless loops. */
const mostHits = 1_000_000;

interface State {
  constants: Map<string, Constant>;
  /** Constant being computed at import. */
  evaluated?: Constant | undefined;
  /** Empty: none. */
  active: string;
  hits: number;
  recorded?: { ids: Set<string>; reads: Set<string> } | undefined;
}

const shared = globalThis as typeof globalThis & { __mutantState?: State };
/** One per process, even if this module is loaded several times. */
const state: State = (shared.__mutantState ??= { constants: new Map(), active: '', hits: 0 });

const isActive: Switch = Object.assign(
  (id: string) => {
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

/** Activates a mutant, or none (empty), and recomputes the module constants that contain it. */
export function activate(id: string): void {
  const before = state.active;
  state.active = id;
  state.hits = 0;
  const concerned = [...state.constants.values()].some(({ ids }) => ids.has(id) || ids.has(before));
  if (concerned) for (const { renew } of state.constants.values()) renew();
}

/** Starts recording reached mutants; the returned function stops and returns them. */
export function record(): () => Set<string> {
  const own = { ids: new Set<string>(), reads: new Set<string>() };
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
