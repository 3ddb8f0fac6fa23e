import { type RefObject, useEffect, useRef, useState } from 'react';
import styles from './page-frame.module.css';

export type Theme = 'light' | 'dark';

interface PageFrameProps {
  address: string;
  theme: Theme;
  width: number;
  title: string;
  minHeight?: number;
}

/** A hosted page in an iframe, at real width, scaled to fit. */
export function PageFrame({ address, theme, width, title, minHeight = 600 }: PageFrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [container, scale] = useScale(width);
  const [height, setHeight] = useState(minHeight);
  const [shown, setShown] = useState<string>();
  // The page follows the system theme; override it with the chosen one.
  useEffect(() => {
    const page = frame.current?.contentDocument;
    if (page && shown !== undefined) applyTheme(page, theme);
  }, [theme, shown]);

  const loaded = () => {
    const page = frame.current?.contentDocument;
    if (!page) return;
    applyTheme(page, theme);
    setShown(address);
    const measure = () => setHeight(Math.max(minHeight, page.querySelector('body')?.scrollHeight ?? 0));
    measure();
    // The page's height changes as its script and images load.
    const observer = new ResizeObserver(measure);
    for (const part of page.querySelectorAll('.frame, body > div')) observer.observe(part);
  };
  return (
    <div ref={container} className={styles.container} data-theme={theme} aria-busy={shown !== address}>
      <div
        className={styles.paper}
        style={{ width: width * scale, height: height * scale }}
        data-stale={shown !== address || undefined}
      >
        <iframe
          ref={frame}
          title={title}
          src={address}
          onLoad={loaded}
          inert
          tabIndex={-1}
          style={{ width, height, scale: String(scale) }}
        />
      </div>
    </div>
  );
}

/** Scale at which a page of this width fits into the container. */
function useScale(width: number): [container: RefObject<HTMLDivElement | null>, scale: number] {
  const container = useRef<HTMLDivElement>(null);
  const [scale, setScale] = useState(1);
  useEffect(() => {
    const element = container.current;
    if (!element) return;
    const observer = new ResizeObserver(([entry]) =>
      setScale(Math.min(1, (entry?.contentRect.width ?? width) / width)),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [width]);
  return [container, scale];
}

/** Applies one theme to all rules and images of the page. */
function applyTheme(page: Document, theme: Theme): void {
  page.documentElement.style.colorScheme = theme;
  for (const sheet of page.styleSheets) {
    for (const rule of sheet.cssRules) {
      if (!(rule instanceof (page.defaultView as Window & typeof globalThis).CSSMediaRule)) continue;
      const isTheme = ruleThemes.get(rule) ?? /prefers-color-scheme:\s*(dark|light)/.exec(rule.media.mediaText)?.[1];
      if (isTheme === undefined) continue;
      ruleThemes.set(rule, isTheme);
      rule.media.mediaText = isTheme === theme ? 'all' : 'not all';
    }
  }
  for (const source of page.querySelectorAll<HTMLSourceElement>('picture > source[media]')) {
    source.media = theme === 'dark' ? 'all' : 'not all';
  }
}

const ruleThemes = new WeakMap<CSSRule, string>();
