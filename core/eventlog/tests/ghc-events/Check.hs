{-# LANGUAGE NamedFieldPuns #-}

-- Reads an event log with nothing but the ghc-events library.
--
--     check FILE.eventlog
--
-- Decodes each event, and runs the library's state machines over them: the rules for threads, tasks
-- and sparks that ThreadScope relies on. Prints a line `NAME VALUE` for each number, under its name in
-- `gclab events summary --json`. A log that the library or a machine rejects is an error. So is an
-- event of a type unknown to the library, except gclab's own types, 1000 and above.
module Main (main) where

import Control.Monad (forM_, unless)
import qualified Data.ByteString.Lazy as ByteString
import qualified Data.IntMap.Strict as IntMap
import Data.List (foldl')
import Data.Word (Word64)
import GHC.RTS.Events
import GHC.RTS.Events.Analysis
import GHC.RTS.Events.Analysis.Capability
import GHC.RTS.Events.Analysis.SparkThread
import GHC.RTS.Events.Analysis.Thread
import GHC.RTS.Events.Incremental (readHeader, readEvents)
import System.Environment (getArgs)
import System.Exit (die)

main :: IO ()
main = do
  arguments <- getArgs
  file <- case arguments of
    [file] -> return file
    _ -> die "usage: check FILE.eventlog"
  let refuse message = die (file ++ ": " ++ message)
  bytes <- ByteString.readFile file
  (header, rest) <- either (refuse . ("the header: " ++)) return (readHeader bytes)
  let (events, problem) = readEvents header rest
      ordered = sortEvents events
  forM_ problem refuse
  let unknown = [number | UnknownEvent number <- map evSpec events, number < 1000]
  unless (null unknown) $ refuse ("types of events that the library does not know: " ++ show unknown)
  forM_ (rules ordered) $ \(name, broken) ->
    forM_ broken $ \event -> refuse ("the machine `" ++ name ++ "` refuses " ++ take 400 event)
  forM_ (figures events ordered) $ \(name, value) -> putStrLn (name ++ " " ++ show value)

-- The library's machines, and the event at which each stops, if any.
rules :: [Event] -> [(String, Maybe String)]
rules events =
  [ ("a capability runs one thread at a time", broken capabilityThreadRunMachine)
  , ("a capability has the threads that run on it", broken capabilityThreadPoolMachine)
  , ("a thread", broken (routeM capabilityThreadRunMachine capabilityThreadIndexer (refineM evSpec threadMachine)))
  , ("a capability has the tasks that run on it", broken capabilityTaskPoolMachine)
  , ("a task", broken capabilityTaskOSMachine)
  , ("sparks", broken (routeM capabilitySparkThreadMachine capabilitySparkThreadIndexer (refineM evSpec sparkThreadMachine)))
  ]
 where
  broken :: Machine state Event -> Maybe String
  broken machine = case validate machine events of
    Left (_, event) -> Just (show event)
    Right _ -> Nothing

-- A collection, as reported by the capability that led it.
data Collection = Collection {generation :: Int, threads :: Int, bytesCopied :: Word64, pause :: Word64}

-- What a capability has reported of a collection so far: its start, and its numbers.
data Open = Open Timestamp (Maybe (Int, Int, Word64))

-- A log's collections. The events of a capability are in file order.
collections :: [Event] -> [Collection]
collections = snd . foldl' step (IntMap.empty, [])
 where
  step (open, done) (Event at what (Just cap)) = case (what, IntMap.lookup cap open) of
    (StartGC, _) -> (IntMap.insert cap (Open at Nothing) open, done)
    (GCStatsGHC{gen, copied, parNThreads}, Just (Open start _)) ->
      (IntMap.insert cap (Open start (Just (gen, parNThreads, copied))) open, done)
    (EndGC, Just (Open start (Just (number, n, bytes)))) ->
      (IntMap.delete cap open, Collection number n bytes (at - start) : done)
    (EndGC, Just _) -> (IntMap.delete cap open, done)
    _ -> (open, done)
  step state _ = state

figures :: [Event] -> [Event] -> [(String, Integer)]
figures events ordered =
  [ ("events", count (const True) events)
  , ("allocated_bytes", sum (map toInteger (IntMap.elems allocated)))
  , ("copied_bytes", sum (map (toInteger . bytesCopied) gcs))
  , ("live_samples", fromIntegral (length live))
  , ("max_live_bytes", maximum (0 : live))
  , ("GC_elapsed_ns", sum (map (toInteger . pause) gcs))
  ]
    ++ concatMap ofGeneration [0 .. maximum (0 : map generation gcs)]
    ++ [("cap_" ++ show cap ++ ".collections", n) | (cap, n) <- IntMap.toList ends]
 where
  count test = fromIntegral . length . filter test
  gcs = collections events
  live = [toInteger bytes | HeapLive{liveBytes = bytes} <- map evSpec events]
  allocated = IntMap.fromListWith max [(cap, bytes) | Event _ (HeapAllocated _ bytes) (Just cap) <- ordered]
  ends = IntMap.fromListWith (+) [(cap, 1) | Event _ EndGC (Just cap) <- ordered]
  ofGeneration number =
    let own = filter ((== number) . generation) gcs
        named name value = ("gen_" ++ show number ++ "." ++ name, value)
     in [ named "collections" (fromIntegral (length own))
        , named "par_collections" (count ((> 1) . threads) own)
        , named "elapsed_ns" (sum (map (toInteger . pause) own))
        , named "max_pause_ns" (maximum (0 : map (toInteger . pause) own))
        ]
