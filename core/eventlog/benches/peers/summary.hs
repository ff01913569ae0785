-- Summarises a log with the ghc-events library, to compare the speed of readers:
--   ghc -O1 -package ghc-events -outputdir target/peer -o target/peer/summary core/eventlog/benches/peers/summary.hs
--   target/peer/summary FILE
-- Prints the number of events, of collections and of their elapsed nanoseconds, and the bytes copied.
{-# LANGUAGE BangPatterns #-}
module Main (main) where

import qualified Data.IntMap.Strict as Map
import Data.List (foldl')
import Data.Word (Word64)
import GHC.RTS.Events
import System.Environment (getArgs)

-- Events, collections, nanoseconds, bytes copied; by capability the start of a collection, and
-- whether its statistics were read.
data Sums = Sums !Int !Int !Word64 !Word64 !(Map.IntMap Word64) !(Map.IntMap Bool)

add :: Sums -> Event -> Sums
add (Sums n gcs ns copied starts leads) (Event time spec cap) = case (spec, cap) of
    (StartGC, Just c) -> Sums (n + 1) gcs ns copied (Map.insert c time starts) (Map.delete c leads)
    (GCStatsGHC {copied = bytes}, Just c) -> Sums (n + 1) gcs ns (copied + bytes) starts (Map.insert c True leads)
    (EndGC, Just c)
        | Just from <- Map.lookup c starts, Map.member c leads -> Sums (n + 1) (gcs + 1) (ns + time - from) copied starts leads
    _ -> Sums (n + 1) gcs ns copied starts leads

main :: IO ()
main = do
    [file] <- getArgs
    Right log' <- readEventLogFromFile file
    let Sums n gcs ns bytes _ _ = foldl' add (Sums 0 0 0 0 Map.empty Map.empty) (events (dat log'))
    print (n, gcs, ns, bytes)
