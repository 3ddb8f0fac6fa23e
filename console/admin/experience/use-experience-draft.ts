import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useMutation } from '../api.ts';
import { type Failure, faultAt } from '../failure.ts';
import {
  DiscardExperienceDraft,
  ExperienceOf,
  type ExperienceStateFragment,
  ExperienceVersions,
  PublishExperience,
  RevertExperience,
  SaveExperienceDraft,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { toast } from '../ui/feedback/toast.tsx';
import { useUnloadWarning } from '../ui/forms/unload-warning.ts';
import { type Content, contentOf, inputOf } from './content.ts';

/** Debounce before saving the draft, in milliseconds. */
const restMs = 500;

export interface ExperienceDraft {
  content: Content;
  change(part: Partial<Content>): void;
  setText(name: string, text: string): void;
  /** The server's draft version; a preview of an older one is stale. */
  version: number;
  state: 'saved' | 'typing' | 'saving' | 'refused';
  failure: Failure | undefined;
  faultOf(field: string): string | undefined;
  busy: boolean;
  publish(): Promise<void>;
  discard(): Promise<void>;
  revert(number: number): Promise<void>;
}

/** A draft with autosave and optimistic locking: a concurrent change is reported, never overwritten. */
export function useExperienceDraft(projectId: string, known: ExperienceStateFragment): ExperienceDraft {
  const [typed, setTyped] = useState<Content>();
  const [state, setState] = useState<ExperienceDraft['state']>('saved');
  const [failure, setFailure] = useState<Failure>();
  const [version, setVersion] = useState(known.draftVersion);
  const [save, saving] = useMutation(SaveExperienceDraft, [ExperienceOf]);
  const [publishDraft, publishing] = useMutation(PublishExperience, [ExperienceOf, ExperienceVersions]);
  const [discardDraft, discarding] = useMutation(DiscardExperienceDraft, [ExperienceOf]);
  const [revertTo, reverting] = useMutation(RevertExperience, [ExperienceOf, ExperienceVersions]);
  const busy = publishing || discarding || reverting;
  const saved = useMemo(() => contentOf(known.draft), [known.draft]);
  const content = typed ?? saved;

  // Adopt another admin's change if nothing was edited here.
  useEffect(() => {
    if (!typed) setVersion(known.draftVersion);
  }, [typed, known.draftVersion]);

  const latest = useRef({ content, version });
  latest.current = { content, version };

  const send = useCallback(async (): Promise<ExperienceDraft['state']> => {
    const sent = latest.current.content;
    setState('saving');
    const input = { projectId, expectedVersion: latest.current.version, ...inputOf(sent) };
    const outcome = await save({ input });
    setFailure(outcome.failure);
    if (!outcome.data) {
      setState('refused');
      return 'refused';
    }
    setVersion(outcome.data.saveExperienceDraft.draftVersion);
    latest.current.version = outcome.data.saveExperienceDraft.draftVersion;
    const next = latest.current.content === sent ? 'saved' : 'typing';
    setState(next);
    return next;
  }, [projectId, save]);

  // Save one at a time: two requests with the same version would conflict.
  const inFlight = useRef<ReturnType<typeof send>>(undefined);
  const keep = useCallback(() => {
    inFlight.current ??= send().finally(() => {
      inFlight.current = undefined;
    });
    return inFlight.current;
  }, [send]);

  useEffect(() => {
    // Do not save during another mutation of the draft: they would conflict.
    if (state !== 'typing' || saving || busy) return;
    const timer = setTimeout(() => void keep(), restMs);
    return () => clearTimeout(timer);
  }, [state, content, saving, busy, keep]);

  useUnloadWarning(state !== 'saved');

  const change = (part: Partial<Content>) => {
    const next = { ...latest.current.content, ...part };
    // At once: a save that ends before the next render must see that it is no longer the latest.
    latest.current.content = next;
    setTyped(next);
    setState('typing');
  };
  const settled = (answer: ExperienceStateFragment | undefined, failed: Failure | undefined, message: string) => {
    setFailure(failed);
    if (!answer) return undefined;
    setVersion(answer.draftVersion);
    latest.current.version = answer.draftVersion;
    toast(message);
    return answer;
  };
  const replaced = (answer: ExperienceStateFragment) => {
    setTyped(contentOf(answer.draft));
    setState('saved');
  };
  const of = () => ({ projectId, expectedVersion: latest.current.version });
  return {
    content,
    change,
    setText: (name, text) => change({ texts: { ...content.texts, [name]: text } }),
    version,
    state,
    failure,
    faultOf: (field) => faultAt(failure, field),
    busy,
    async publish() {
      // Flush the save in flight, then the edits made since.
      for (let now = state; now !== 'saved'; ) {
        now = await keep();
        if (now === 'refused') return;
      }
      const sent = latest.current.content;
      const { data, failure: failed } = await publishDraft({ input: of() });
      const answer = settled(data?.publishExperience, failed, t('Published'));
      // Edits made meanwhile become the next draft.
      if (answer && latest.current.content === sent) replaced(answer);
    },
    async discard() {
      // Also after a conflict: discarding needs no merge.
      const { data, failure: failed } = await discardDraft({ input: { projectId } });
      const answer = settled(data?.discardExperienceDraft, failed, t('Draft discarded'));
      if (answer) replaced(answer);
    },
    async revert(number) {
      const { data, failure: failed } = await revertTo({ input: { projectId, number } });
      const message = number === 0 ? t('Reverted to the default look') : t('Reverted to version {number}', { number });
      const answer = settled(data?.revertExperience, failed, message);
      if (answer) replaced(answer);
    },
  };
}
