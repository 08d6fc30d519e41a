import { useEffect, useRef, useState } from "react";

/** A value that follows another only after it has been still for a while. */
export function useSettled<T>(value: T, ms = 300): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** State that survives a reload of the page, also where storage is full or forbidden. */
export function useKept<T>(key: string, initial: T): [T, (v: T) => void] {
  const [value, setValue] = useState<T>(() => {
    try {
      return JSON.parse(localStorage.getItem(key) ?? "") as T;
    } catch {
      return initial;
    }
  });
  useEffect(() => {
    try {
      localStorage.setItem(key, JSON.stringify(value));
    } catch {
      // private mode
    }
  }, [key, value]);
  return [value, setValue];
}

/** Calls back when the end of a list comes into view, to load the next page. */
export function useEndInView(onEnd: () => void) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const watcher = new IntersectionObserver((entries) => entries[0].isIntersecting && onEnd());
    if (ref.current) watcher.observe(ref.current);
    return () => watcher.disconnect();
  }, [onEnd]);
  return ref;
}
